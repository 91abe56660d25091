// Sessions of ONNX Runtime from archives, for programs that use ONNX Runtime's C++ API. This library itself neither
// includes nor links ONNX Runtime. A session from any of these functions computes what a session of the inline model
// computes:
//
// | function             | the archive is               | the weights are                 |
// |----------------------|------------------------------|---------------------------------|
// | session_from_archive | a file, or part of a file    | mapped by ONNX Runtime, no copy |
// | session_from_link    | a file with a link beside it | mapped by ONNX Runtime, no copy |
// | session_from_memory  | open, wherever its bytes are | copied once by ONNX Runtime     |
//
// session_from_memory costs a copy because ONNX Runtime does not take values that own their buffer as external
// initializers (seen in 1.23 and 1.31). Kernels that rearrange weights copy them in all three cases; with the session
// option `session.disable_prepacking` = "1" every kernel uses them in place.
//
// Once a session is made, it needs neither the `Archive` nor the file's name. The file must not be shortened while it
// is mapped. Errors: onnxar::Error for faults of the archive, Ort::Exception for models that ONNX Runtime refuses.
// Threads: calls are independent of each other; the session options are only read.
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
