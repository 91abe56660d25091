// The content of an archive, without protobuf: entries and their kinds, tensors and their bytes, metadata.
//
// `ls` describes all entries. `TensorIndex` finds tensors by name and gives their bytes; it reads the model once, so
// keep it. All functions are const on the archive, and may be called from several threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/options.h"
#include "onnxar/tensor.h"
#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

// --- Entries ---------------------------------------------------------------------------------------------------------

/// The purpose of an entry.
enum class EntryKind : std::uint8_t {
  weight,     ///< a tensor of the model or of a graph names it
  side_file,  ///< no tensor names it, and its name is not a C identifier: `tokenizer.json`
  graph,      ///< a further graph over the same weights: `NAME.onnx` in the root
  unused,     ///< no tensor names it, and its name is a key: left by an edit
  model,      ///< `__MODEL_PROTO`
};
[[nodiscard]] std::string_view to_string(EntryKind kind) noexcept;

struct ListedEntry {
  std::string name;
  std::uint64_t offset = 0;  ///< of the first byte, absolute
  std::uint64_t size = 0;    ///< bytes
  std::uint32_t crc32 = 0;
  std::uint64_t alignment = 0;      ///< as recorded; 64 without a record; 0: not read, of an archive by ranges
  std::uint64_t header_offset = 0;  ///< of the entry's local header, absolute
  std::uint64_t padding = 0;        ///< bytes of the padding record; 0 without one
  /// Tensors with data in this entry: of the model if it has any here, else of the first of `graphs`.
  std::vector<TensorInfo> tensors;
  EntryKind kind = EntryKind::weight;
  /// The entries of the graphs whose tensors have data in this entry: the model, then the others in the order of the
  /// file. Graphs that cannot be read count as far as they can.
  std::vector<std::string> graphs = {};
};

struct Listing {
  std::uint64_t file_size = 0;
  std::uint64_t alignment = 0;       ///< the smallest recorded alignment, which every entry has; 0: not read
  std::uint64_t unused_bytes = 0;    ///< of earlier states of the model, left by edits
  std::uint64_t padding_bytes = 0;   ///< of padding records
  ListedEntry model;                 ///< the entry with the ModelProto
  std::vector<ListedEntry> entries;  ///< all others, in the order of the file
  std::string model_name = {};       ///< of the model among the graphs; empty if it has none
};

/// Lists an archive. Errors: io.*, zip.*, archive.*, wire.*. Cost: O(directory + model); reads every local header.
[[nodiscard]] Listing ls(const std::filesystem::path& path, const LoadOptions& options = {});
/// Lists an open archive. Of one that is read by ranges, no local header is read, so offsets are those that the
/// directory suggests, padding is what lies between the name and the data, and alignments are 0. Errors: io.changed,
/// zip.*, wire.*.
[[nodiscard]] Listing ls(const Archive& archive, const LoadOptions& options = {});

/// Removes the entries that do not match a shell pattern (`*`, `?`, `[a-c]`): neither their name nor that of a tensor
/// in them. `model` and the totals of the file stay. Cost: O(names * pattern).
void keep_matching(Listing& listing, std::string_view pattern);

// --- Tensors ---------------------------------------------------------------------------------------------------------

/// A tensor of an archive's model, with its data in an entry or in the model.
struct StoredTensor : TensorInfo {
  std::uint64_t offset = 0;  ///< of the TensorProto in the model, bytes
  std::uint64_t size = 0;    ///< of the TensorProto, bytes
};

/// Every tensor of the model, at every site, in the order of the model. See TensorIndex for lookup by name.
/// Errors: wire.*, onnx.*. Cost: O(model).
[[nodiscard]] std::vector<StoredTensor> tensors(const Archive& archive, const LoadOptions& options = {});

/// The raw bytes of a tensor that `tensors` gave for this archive:
/// - data in an entry: a view of it with a share in `archive.owner()`. ByteSpan::alignment reports the alignment of its
///   address: at offset 0 that of the entry, elsewhere that of the link's offset;
/// - data in the model at a multiple of 64: a view of it with a share in `archive.owner()`;
/// - data elsewhere in the model, and typed fields, which are decoded: a copy at a multiple of 64 with a share in its
///   memory. The archive keeps the copy, so the next call gives the same bytes.
///
/// Vector loads are therefore safe for data in the model, wherever protobuf put it. Each Archive copies a tensor once.
/// The copies that it keeps are together at most as large as its model; a copy beyond that belongs to the span alone.
/// Threads: as Archive.
///
/// Errors: usage.foreign_entry (not a tensor of this archive's model); onnx.external*; those of Archive::locate;
/// onnx.tensor.* (what `check` calls an error; .strings; .not_converted: too many typed values, or out of range). Cost:
/// O(fields of the tensor), and O(bytes) at the first call for data in the model that is copied.
[[nodiscard]] ByteSpan tensor_data(const Archive& archive, const StoredTensor& tensor);
[[nodiscard]] std::optional<ByteSpan> tensor_data(const Archive& archive, const StoredTensor& tensor,
                                                  Failure& failure) noexcept;

/// One tensor of a TensorIndex. A small view, valid as long as the index and its archive.
class ArchiveTensor {
 public:
  ArchiveTensor(const Archive& archive, const StoredTensor& stored) noexcept : archive_(&archive), stored_(&stored) {}

  [[nodiscard]] std::string_view name() const noexcept { return stored_->name; }
  [[nodiscard]] DataType type() const noexcept { return stored_->type; }
  [[nodiscard]] std::span<const std::int64_t> dims() const noexcept { return stored_->dims; }
  /// Where the tensor is in the model: `graph.initializer[3]`.
  [[nodiscard]] std::string_view site() const noexcept { return stored_->site; }
  [[nodiscard]] const StoredTensor& stored() const noexcept { return *stored_; }
  /// As tensor_data. The bytes are looked up by this call, not by the index.
  [[nodiscard]] ByteSpan data() const { return tensor_data(*archive_, *stored_); }
  [[nodiscard]] std::optional<ByteSpan> data(Failure& failure) const noexcept {
    return tensor_data(*archive_, *stored_, failure);
  }

 private:
  const Archive* archive_;
  const StoredTensor* stored_;
};

/// All tensors of an archive's model, as a random-access range and by name:
///
///   for (const onnxar::ArchiveTensor& tensor : onnxar::TensorIndex(archive)) use(tensor.name(), tensor.data());
///
/// The archive must outlive the index and stay where it is. Move-only. Threads: const members may be called from
/// several threads at once.
class TensorIndex {
 public:
  /// Errors: wire.*, onnx.*. Cost: O(model); no data is read.
  explicit TensorIndex(const Archive& archive, const LoadOptions& options = {});
  explicit TensorIndex(const Archive&& archive, const LoadOptions& options = {}) = delete;
  [[nodiscard]] static std::optional<TensorIndex> make(const Archive& archive, Failure& failure) noexcept;
  static std::optional<TensorIndex> make(const Archive&& archive, Failure& failure) = delete;

  TensorIndex(TensorIndex&& other) noexcept;
  TensorIndex& operator=(TensorIndex&& other) noexcept;
  TensorIndex(const TensorIndex&) = delete;
  TensorIndex& operator=(const TensorIndex&) = delete;
  ~TensorIndex();

  [[nodiscard]] std::size_t size() const noexcept;
  /// Tensor `index` in the order of the model. REQUIRES: index < size().
  [[nodiscard]] ArchiveTensor operator[](std::size_t index) const& noexcept;
  ArchiveTensor operator[](std::size_t index) const&& = delete;
  [[nodiscard]] auto begin() const noexcept { return detail::IndexIterator(TensorAt{this}, 0); }
  [[nodiscard]] auto end() const noexcept {
    return detail::IndexIterator(TensorAt{this}, static_cast<std::ptrdiff_t>(size()));
  }

  /// The tensor of this name. If several have it, gives the initializer of the main graph before tensors at other
  /// sites, and the first in the order of the model among equals; `count` gives their number. Never finds a tensor
  /// without a name. Cost: O(1).
  [[nodiscard]] std::optional<ArchiveTensor> find(std::string_view name) const& noexcept;
  std::optional<ArchiveTensor> find(std::string_view name) const&& = delete;
  /// The index of that tensor. Cost: O(1).
  [[nodiscard]] std::optional<std::size_t> index_of(std::string_view name) const noexcept;
  /// How many tensors have this name; 0 for an empty name. Cost: O(1).
  [[nodiscard]] std::size_t count(std::string_view name) const noexcept;

 private:
  struct Parts;
  struct TensorAt {
    const TensorIndex* index = nullptr;
    ArchiveTensor operator()(std::size_t at) const noexcept { return (*index)[at]; }
  };

  std::unique_ptr<Parts> parts_;
};

// --- Kinds of entries, metadata --------------------------------------------------------------------------------------

/// The kind of each entry, by its index. Considers the tensors of the model and of all graphs. Errors: wire.*, onnx.*,
/// with the entry of the graph that cannot be read. Cost: O(directory + model + graphs).
[[nodiscard]] std::vector<EntryKind> entry_kinds(const Archive& archive, const LoadOptions& options = {});

/// The further graphs of an archive, in the order of the file: entries `NAME.onnx` in its root, each of them a
/// ModelProto over the archive's entries. Valid as long as the archive. Cost: O(directory).
[[nodiscard]] std::vector<ArchiveEntry> graphs(const Archive& archive);
std::vector<ArchiveEntry> graphs(const Archive&& archive) = delete;

/// The entries that tensors of further graphs name, in the order of the file, whether or not the model names them too.
/// Errors: wire.*, onnx.*. Cost: O(directory + graphs).
[[nodiscard]] std::vector<ArchiveEntry> entries_of_graphs(const Archive& archive, const LoadOptions& options = {});
std::vector<ArchiveEntry> entries_of_graphs(const Archive&& archive, const LoadOptions& options = {}) = delete;

/// The entries of kind side_file, such as `tokenizer.json`, in the order of the file. Valid as long as the archive.
/// Errors: wire.*, onnx.*. Cost: O(directory + model + graphs).
[[nodiscard]] std::vector<ArchiveEntry> side_files(const Archive& archive, const LoadOptions& options = {});
std::vector<ArchiveEntry> side_files(const Archive&& archive, const LoadOptions& options = {}) = delete;

/// The keys and values of the model's metadata_props, in the order of the model. Views of the archive. Errors: wire.*.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string_view>> metadata(const Archive& archive);
std::vector<std::pair<std::string_view, std::string_view>> metadata(const Archive&& archive) = delete;

// --- Deprecated names ------------------------------------------------------------------------------------------------

[[deprecated("use ls")]] [[nodiscard]]
inline Listing list(const std::filesystem::path& path, const LoadOptions& options = {}) {
  return ls(path, options);
}
[[deprecated("use ls")]] [[nodiscard]]
inline Listing list(const Archive& archive, const LoadOptions& options = {}) {
  return ls(archive, options);
}

}  // namespace ONNXAR_API onnxar
