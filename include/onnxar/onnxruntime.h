// Sessions of ONNX Runtime from archives, for programs that use ONNX Runtime's C++ API. This library itself neither
// includes nor links ONNX Runtime. All three ways give sessions that compute what a session of the inline model does:
//
// | function             | the archive                  | the weights |
// |----------------------|------------------------------|--------------------------------------------------------------|
// | session_from_archive | a file, or part of a file    | mapped from the file by ONNX Runtime; nothing is copied | |
// session_from_link    | a file with a link beside it | the same                                                     |
// | session_from_memory  | any open archive             | copied once by ONNX Runtime, since it does not take values |
// |                      |                              | that own their buffer for this (seen in 1.23 and 1.31) |
//
// Kernels that rearrange weights copy them too. With the session option `session.disable_prepacking` = "1" all kernels
// use them in place. A session needs neither the `Archive` nor the file's name once it is made; the file must not be
// shortened while it is mapped. Errors: onnxar::Error for faults of the archive, Ort::Exception for what ONNX Runtime
// refuses.
#pragma once

#include <onnxruntime_cxx_api.h>
#include <onnxruntime_session_options_config_keys.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/link.h"

namespace onnxar::ort {

/// A session of the archive at `archive`, or in a part of that file, through a link in memory (link.h). Needs ONNX
/// Runtime 1.22 or later.
inline Ort::Session session_from_archive(const Ort::Env& env, const std::filesystem::path& archive,
                                         const Ort::SessionOptions& options, const ArchiveRange& range = {}) {
  const Link link = make_link(archive, range);
  Ort::SessionOptions in_folder = options.Clone();
  in_folder.AddConfigEntry(kOrtSessionOptionsModelExternalInitializersFileFolderPath, link.folder.c_str());
  return {env, link.model.data(), link.model.size(), in_folder};
}

/// A session of the `.onnx` file at `link`. If it is a link, its archive is verified first (verify_link).
inline Ort::Session session_from_link(const Ort::Env& env, const std::filesystem::path& link,
                                      const Ort::SessionOptions& options) {
  verify_link(link);
  return {env, link.c_str(), options};
}

/// A session of an open archive, which may be in memory, part of another file, or removed since (make_runtime_model).
inline Ort::Session session_from_memory(const Ort::Env& env, const Archive& archive,
                                        const Ort::SessionOptions& options) {
  const RuntimeModel runtime_model = make_runtime_model(archive);
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  std::vector<std::string> names;
  std::vector<Ort::Value> values;
  for (const RuntimeTensor& tensor : runtime_model.tensors) {
    names.push_back(tensor.info.name);
    // Ort::Value needs a pointer to writable memory, but ONNX Runtime only reads values that it copies.
    values.push_back(Ort::Value::CreateTensor(memory, const_cast<std::byte*>(tensor.bytes.data()), tensor.bytes.size(),
                                              tensor.info.dims.data(), tensor.info.dims.size(),
                                              static_cast<ONNXTensorElementDataType>(tensor.info.type)));
  }
  Ort::SessionOptions with_weights = options.Clone();
  if (!names.empty()) with_weights.AddExternalInitializers(names, values);
  return {env, runtime_model.model.data(), runtime_model.model.size(), with_weights};
}

}  // namespace onnxar::ort
