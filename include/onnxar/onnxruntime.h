// Sessions of ONNX Runtime from archives.
//
// For programs that use ONNX Runtime's C++ API; nothing of this library includes or links it. Three ways, all giving
// sessions that compute the same as one of the inline model:
//
// | function             | the archive     | the weights                                                        |
// |----------------------|-----------------|--------------------------------------------------------------------|
// | session_from_archive | a file, or part | mapped from the file by ONNX Runtime, wherever in the model         |
// |                      | of one          | they stand: nothing is copied                                      |
// | session_from_link    | a file, beside  | the same                                                           |
// |                      | it a link       |                                                                    |
// | session_from_memory  | any that is     | copied once, by ONNX Runtime: it refuses values that own their     |
// |                      | open            | buffer for this, and copies others (1.23 and 1.31 were looked at)  |
//
// Kernels that rearrange weights copy them, too; the session option `session.disable_prepacking` = "1" has them all
// used as they lie. Sessions need neither the `Archive` nor its file's name once they are made; the file must not be
// shortened while it is mapped. Errors: onnxar::Error for what is wrong with the archive, Ort::Exception for what ONNX
// Runtime refuses.
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

/// A session of the archive at `archive`, or in the file there, by a link in memory (link.h). ONNX Runtime 1.22 or
/// later.
inline Ort::Session session_from_archive(const Ort::Env& env, const std::filesystem::path& archive,
                                         const Ort::SessionOptions& options, const ArchiveRange& range = {}) {
  const Link link = make_link(archive, range);
  Ort::SessionOptions in_folder = options.Clone();
  in_folder.AddConfigEntry(kOrtSessionOptionsModelExternalInitializersFileFolderPath, link.folder.c_str());
  return {env, link.model.data(), link.model.size(), in_folder};
}

/// A session of the `.onnx` file at `link`, after proving that, if it is a link, its archive is as it was
/// (verify_link).
inline Ort::Session session_from_link(const Ort::Env& env, const std::filesystem::path& link,
                                      const Ort::SessionOptions& options) {
  verify_link(link);
  return {env, link.c_str(), options};
}

/// A session of an open archive, which may be in memory, part of another file, or removed since (feed.h).
inline Ort::Session session_from_memory(const Ort::Env& env, const Archive& archive,
                                        const Ort::SessionOptions& options) {
  const RuntimeModel feed = make_runtime_model(archive);
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  std::vector<std::string> names;
  std::vector<Ort::Value> values;
  for (const RuntimeTensor& tensor : feed.tensors) {
    names.push_back(tensor.info.name);
    // A value can be written to, but ONNX Runtime only reads the ones that it copies.
    values.push_back(Ort::Value::CreateTensor(memory, const_cast<std::byte*>(tensor.bytes.data()), tensor.bytes.size(),
                                              tensor.info.dims.data(), tensor.info.dims.size(),
                                              static_cast<ONNXTensorElementDataType>(tensor.info.type)));
  }
  Ort::SessionOptions with_weights = options.Clone();
  if (!names.empty()) with_weights.AddExternalInitializers(names, values);
  return {env, feed.model.data(), feed.model.size(), with_weights};
}

}  // namespace onnxar::ort
