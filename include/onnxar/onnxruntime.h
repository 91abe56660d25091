// Makes ONNX Runtime sessions from archives, for programs that use its C++ API. The library itself does not need it.
//
//   Ort::Env env;
//   Ort::Session session = onnxar::ort::session_from_archive(env, "model.onnxar", Ort::SessionOptions());
//
// | function             | the archive is               | the weights are                 |
// |----------------------|------------------------------|---------------------------------|
// | session_from_archive | a file, or part of a file    | mapped by ONNX Runtime, no copy |
// | session_from_cache   | a file                       | mapped, in the kernels' layout  |
// | session_from_link    | a file with a link beside it | mapped by ONNX Runtime, no copy |
// | session_from_memory  | open, wherever its bytes are | copied once by ONNX Runtime     |
//
// All compute what a session of the inline model computes. session_from_memory needs its copy because ONNX Runtime does
// not accept values that own their buffer as external initializers (seen in 1.23 and 1.31). Kernels that rearrange
// weights copy them, except with session_from_cache or with the session option `session.disable_prepacking` = "1".
// A session needs neither the `Archive` nor the file's name, but the file must not be shortened while it is mapped. All
// throw onnxar::Error for faults of the archive (onnx.link.stale, io.changed: it was replaced during the call), and
// Ort::Exception for models that ONNX Runtime refuses. Threads: calls are independent of each other; session options
// are only read.
#pragma once

#include <onnxruntime_cxx_api.h>
#include <onnxruntime_session_options_config_keys.h>

#include "onnxar/link.h"
#include "onnxar/stored_model.h"

namespace onnxar::ort {

namespace detail {
inline Ort::Session session_of(const Ort::Env& env, const Link& link, Ort::SessionOptions options) {
  const std::u8string folder = link.folder.u8string();  // as ONNX Runtime takes it on every system
  options.AddConfigEntry(kOrtSessionOptionsModelExternalInitializersFileFolderPath,
                         reinterpret_cast<const char*>(folder.c_str()));
  return {env, link.model.data(), link.model.size(), options};
}
}  // namespace detail

/// Makes a session through a link in memory (link.h). `which` selects the graph, and the part of the file; sessions of
/// several graphs share the pages of common weights. Needs ONNX Runtime 1.22 or later.
inline Ort::Session session_from_archive(const Ort::Env& env, const std::filesystem::path& archive,
                                         const Ort::SessionOptions& options, const LinkOptions& which = {}) {
  const Link link = make_link(archive, which);
  Ort::Session session(nullptr);
  verify_link(link.model, link.folder, [&] { session = detail::session_of(env, link, options.Clone()); });
  return session;
}

struct SessionCache {
  std::filesystem::path file;  ///< of the stored model
  /// Describes all session options that are not defaults (except those of threads and logging) and the versions of
  /// custom operator libraries: ONNX Runtime does not expose them. Each description gets its own stored model.
  std::string settings = {};
  std::string graph = {};      ///< as in LinkOptions
  std::string* why = nullptr;  ///< gets the reason why the session does not use the cache; "" if it does
};

/// Makes a session from the model as ONNX Runtime optimised it for this machine, with prepacked weights that all
/// processes share; the first start stores it (StoredModel). Results are bit-identical. Needs the CPU provider. If the
/// cache cannot be used (a full disk, a folder to which others can write, a model that ONNX Runtime cannot store),
/// calls `session_from_archive`. If ONNX Runtime refuses the stored form of a model, does not try it again.
inline Ort::Session session_from_cache(const Ort::Env& env, const std::filesystem::path& archive,
                                       const Ort::SessionOptions& options, const SessionCache& cache) {
  std::string ignored;
  std::string& why = cache.why == nullptr ? ignored : *cache.why;
  StoredModel stored = StoredModel::open(
      cache.file, {archive, cache.graph, Ort::GetVersionString() + " " + Ort::GetBuildInfoString(), cache.settings});
  const bool is_new = !stored.is_stored();
  try {
    if (is_new) {
      Ort::SessionOptions writing = options.Clone();
      writing.SetOptimizedModelFilePath(stored.prepare().c_str());
      writing.AddConfigEntry(kOrtSessionOptionsOptimizedModelExternalInitializersFileName, "data");
      writing.AddConfigEntry(kOrtSessionOptionsOptimizedModelExternalInitializersMinSizeInBytes, "1024");
      writing.AddConfigEntry(kOrtSessionOptionsSavePrePackedConstantInitializers, "1");
      // It would warn that the file is only for this machine.
      writing.DisableProfiling().SetLogSeverityLevel(ORT_LOGGING_LEVEL_ERROR);
      detail::session_of(env, stored.link(), std::move(writing));
      stored.store();
    }
    Ort::SessionOptions reading = options.Clone();
    reading.SetGraphOptimizationLevel(ORT_DISABLE_ALL);  // the stored model is optimised
    Ort::Session session = detail::session_of(env, stored.link(), std::move(reading));
    stored.verify();
    why.clear();
    return session;
  } catch (const Error& error) {
    why = error.what();
  } catch (const Ort::Exception& error) {
    why = error.what();
    // Other codes may also mean a full disk, or too little memory.
    const OrtErrorCode code = error.GetOrtErrorCode();
    if (is_new && (code == ORT_INVALID_GRAPH || code == ORT_NOT_IMPLEMENTED)) stored.refuse(why);
  }
  return session_from_archive(env, archive, options, {.graph = cache.graph});
}

/// Makes a session from an `.onnx` file. If it is a link, verifies its archive before and after (verify_link).
inline Ort::Session session_from_link(const Ort::Env& env, const std::filesystem::path& link,
                                      const Ort::SessionOptions& options) {
  Ort::Session session(nullptr);
  verify_link(link, [&] { session = Ort::Session(env, link.c_str(), options); });
  return session;
}

/// Makes a session from an open archive, which may be in memory or in another file, and whose file may have been
/// removed (make_runtime_model). See also Archive::graph.
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

/// Returns the adapter in a side file such as "style.onnx_adapter", for Ort::RunOptions::AddActiveLoraAdapter. ONNX
/// Runtime copies it and trusts it, so its CRC-32 is compared first. Throws usage.no_such_entry; zip.data.crc.
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
