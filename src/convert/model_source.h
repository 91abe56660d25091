// A model on disk: its ModelProto bytes, and the bytes that its links name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "convert/external_files.h"
#include "onnx/external_data.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/byte_source.h"
#include "onnxar/error.h"
#include "onnxar/options.h"

namespace onnxar {

/// The data of one tensor.
struct Payload {
  /// Hands out the bytes; verifies them on the way where there is a CRC to hold them against.
  std::shared_ptr<const ByteSource> source;
  /// Where they lie in memory, and what keeps them alive; empty where they are converted while they are read.
  ByteSpan span;
  /// The archive entry they are in, if there is one.
  std::optional<std::size_t> entry;

  [[nodiscard]] std::uint64_t size() const { return source->size(); }
};

class ForeignSource;

/// An archive or a `.onnx` file, mapped. Told apart by content.
class ModelSource {
 public:
  /// Errors: io.*; zip.* and archive.* where the file begins as a zip; onnx.model.invalid (empty).
  static ModelSource open(const std::filesystem::path& path, const LoadOptions& options);
  /// A model whose archive is open already.
  static ModelSource of(Archive archive, const LoadOptions& options);
  /// What `open` reads, and where `options.foreign_zips` allows it, zips and folders of other makers: what is a plain
  /// zip by its first fault. Errors: as `open`; of such a zip those of ForeignSource.
  static ModelSource open_any(const std::filesystem::path& path, const LoadOptions& options);

  [[nodiscard]] Bytes model() const noexcept { return model_; }
  /// Keeps `model()` alive.
  [[nodiscard]] const std::shared_ptr<const void>& owner() const noexcept { return owner_; }
  /// Null for a `.onnx` file.
  [[nodiscard]] const Archive* archive() const noexcept { return archive_ ? &*archive_ : nullptr; }
  /// Null for what `open` reads.
  [[nodiscard]] const ForeignSource* foreign() const noexcept { return foreign_.get(); }

  /// The data of a tensor whose data_location is EXTERNAL.
  /// Errors: onnx.external*, onnx.tensor.length, zip.*, io.*, naming the tensor and where it stands.
  Payload external_payload(const onnx::TensorSite& site);

  /// `error`, whose offset counts from the model's first byte, with the place in the file instead.
  [[nodiscard]] Error located(const Error& error) const;
  [[nodiscard]] Place place_of(const onnx::TensorSite& site) const;

  /// The bytes of an entry, verified as they are read. Errors: as Archive::bytes.
  [[nodiscard]] std::shared_ptr<const ByteSource> entry_source(const ArchiveEntry& entry) const;

 private:
  explicit ModelSource(const LoadOptions& options) : options_(options) {}
  ModelSource(std::shared_ptr<ForeignSource> foreign, const LoadOptions& options);
  Payload resolve(const onnx::TensorSite& site, const onnx::ExternalSlice& slice);
  Payload resolve_in_archive(const onnx::TensorSite& site, const onnx::ExternalSlice& slice);

  LoadOptions options_;
  std::filesystem::path path_;
  Bytes model_;
  std::shared_ptr<const void> owner_;
  std::optional<Archive> archive_;
  std::shared_ptr<ForeignSource> foreign_;
  std::optional<ExternalFiles> files_;
  std::uint64_t model_offset_ = 0;  // of the model in the file
  std::set<std::size_t> verified_;  // entries of which only slices are used, verified as a whole
};

/// `tensor "w" (graph.initializer[3])`
std::string describe(const onnx::TensorSite& site);

}  // namespace onnxar
