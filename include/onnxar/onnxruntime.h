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
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/error.h"
#include "onnxar/link.h"

namespace onnxar::ort {

/// A session of the archive at `archive`, or in a part of that file, through a link in memory (link.h). `graph` names
/// one of its graphs, as Archive::graph; sessions of several share the pages of common weights. Needs ONNX Runtime 1.22
/// or later.
inline Ort::Session session_from_archive(const Ort::Env& env, const std::filesystem::path& archive,
                                         const Ort::SessionOptions& options, const ArchiveRange& range = {},
                                         std::string_view graph = {}) {
  const Link link = make_link(archive, range, graph);
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
/// Archive::graph gives the archive of one of its graphs.
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

/// The adapter in a side file of an open archive, such as "style.onnx_adapter", for
/// Ort::RunOptions::AddActiveLoraAdapter. ONNX Runtime copies it from the archive's bytes, whose CRC-32 is compared
/// first: it trusts what an adapter says of itself. Errors: usage.no_such_entry; zip.data.crc.
inline Ort::LoraAdapter adapter_from_archive(const Archive& archive, std::string_view name) {
  const auto entry = archive.find(name);
  if (!entry) {
    throw Error(Code::usage_no_such_entry, "the archive has no adapter of this name", {std::string(name), std::nullopt},
                archive.path());
  }
  archive.verify(*entry);
  const Bytes bytes = archive.bytes(*entry);
  return Ort::LoraAdapter::CreateLoraAdapterFromArray(bytes.data(), bytes.size(), nullptr);
}

}  // namespace onnxar::ort
