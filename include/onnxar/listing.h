// The content of an archive, without protobuf: entries and their kinds, tensors and their bytes, metadata.
//
//   const onnxar::Archive archive = onnxar::Archive::open("model.onnxar");
//   const onnxar::TensorIndex tensors(archive);  // reads the model once: keep it
//   if (const auto weight = tensors.find("encoder.weight")) use(weight->dims(), weight->data());
//   for (const onnxar::ListedEntry& entry : onnxar::ls(archive).entries) use(entry.name, entry.size);
//
// Threads: all functions and const members may be called concurrently.
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
  std::uint64_t alignment = 0;      ///< as recorded; 64 without a record; 0 if unknown (archive read by ranges)
  std::uint64_t header_offset = 0;  ///< absolute
  std::uint64_t padding = 0;        ///< bytes of the padding record
  std::vector<TensorInfo> tensors;  ///< with data in this entry: of the model if it has any here, else of graphs[0]
  EntryKind kind = EntryKind::weight;
  /// The entries of the graphs whose tensors have data in this entry, the model first. Graphs that cannot be read count
  /// as far as they can.
  std::vector<std::string> graphs = {};
};

struct Listing {
  std::uint64_t file_size = 0;
  std::uint64_t alignment = 0;      ///< the smallest recorded one; 0 if unknown
  std::uint64_t unused_bytes = 0;   ///< of earlier states of the model, left by edits
  std::uint64_t padding_bytes = 0;  ///< of padding records
  ListedEntry model;
  std::vector<ListedEntry> entries;  ///< all others, in the order of the file
  std::string model_name = {};       ///< among the graphs, if it has one
};

/// Errors: io.*, zip.*, archive.*, wire.*. Cost: O(directory + model); reads every local header.
[[nodiscard]] Listing ls(const std::filesystem::path& path, const LoadOptions& options = {});
/// With range reading, no local header is read: offsets are those that the directory suggests, and padding is what lies
/// between the name and the data.
[[nodiscard]] Listing ls(const Archive& archive, const LoadOptions& options = {});

/// Removes the entries of which neither the name nor a tensor's name matches a shell pattern (`*`, `?`, `[a-c]`). The
/// model and the totals of the file stay. Cost: O(names * pattern).
void keep_matching(Listing& listing, std::string_view pattern);

/// A tensor of an archive's model.
struct StoredTensor : TensorInfo {
  std::uint64_t offset = 0;  ///< of the TensorProto in the model, bytes
  std::uint64_t size = 0;    ///< of the TensorProto, bytes
};

/// Every tensor of the model, at every site, in the order of the model. Errors: wire.*, onnx.*. Cost: O(model).
[[nodiscard]] std::vector<StoredTensor> tensors(const Archive& archive, const LoadOptions& options = {});

/// The raw bytes of a tensor that `tensors` gave for this archive. The span has a share in their memory. They are
/// - data in an entry: a view, aligned as the entry, beyond offset 0 as the link's offset;
/// - data in the model at a multiple of 64: a view;
/// - data elsewhere in the model, and typed fields, which are decoded: a copy at a multiple of 64.
///
/// The archive keeps copies, so later calls give the same bytes, up to the size of the model in all. Beyond that each
/// call copies.
/// Errors: usage.foreign_entry (not of this archive's model); onnx.external*, onnx.tensor.* (.strings: they have no raw
/// bytes; .not_converted: too many typed values, or out of range); as Archive::locate. Cost: O(fields of the tensor),
/// and O(bytes) for a copy.
[[nodiscard]] ByteSpan tensor_data(const Archive& archive, const StoredTensor& tensor);

/// A small view, valid as long as the index and its archive.
class ArchiveTensor {
 public:
  ArchiveTensor(const Archive& archive, const StoredTensor& stored) noexcept : archive_(&archive), stored_(&stored) {}

  [[nodiscard]] std::string_view name() const noexcept { return stored_->name; }
  [[nodiscard]] DataType type() const noexcept { return stored_->type; }
  [[nodiscard]] std::span<const std::int64_t> dims() const noexcept { return stored_->dims; }
  /// Such as `graph.initializer[3]`.
  [[nodiscard]] std::string_view site() const noexcept { return stored_->site; }
  /// As tensor_data, at each call.
  [[nodiscard]] ByteSpan data() const { return tensor_data(*archive_, *stored_); }

 private:
  const Archive* archive_;
  const StoredTensor* stored_;
};

/// All tensors of an archive's model, by name and as a random-access range in the order of the model. The archive must
/// outlive the index and stay where it is. Move-only.
class TensorIndex {
 public:
  /// Errors: wire.*, onnx.*. Cost: O(model); no data is read.
  explicit TensorIndex(const Archive& archive, const LoadOptions& options = {});
  explicit TensorIndex(const Archive&& archive, const LoadOptions& options = {}) = delete;

  TensorIndex(TensorIndex&& other) noexcept;
  TensorIndex& operator=(TensorIndex&& other) noexcept;
  TensorIndex(const TensorIndex&) = delete;
  TensorIndex& operator=(const TensorIndex&) = delete;
  ~TensorIndex();

  [[nodiscard]] std::size_t size() const noexcept;
  /// REQUIRES: index < size().
  [[nodiscard]] ArchiveTensor operator[](std::size_t index) const& noexcept;
  ArchiveTensor operator[](std::size_t index) const&& = delete;
  [[nodiscard]] auto begin() const noexcept { return detail::IndexIterator(TensorAt{this}, 0); }
  [[nodiscard]] auto end() const noexcept {
    return detail::IndexIterator(TensorAt{this}, static_cast<std::ptrdiff_t>(size()));
  }

  /// If several have this name, the initializer of the main graph comes before tensors at other sites, then the first
  /// in the order of the model. Never finds a tensor without a name. Cost of all three: O(1).
  [[nodiscard]] std::optional<ArchiveTensor> find(std::string_view name) const& noexcept;
  std::optional<ArchiveTensor> find(std::string_view name) const&& = delete;
  [[nodiscard]] std::optional<std::size_t> index_of(std::string_view name) const noexcept;
  /// 0 for an empty name.
  [[nodiscard]] std::size_t count(std::string_view name) const noexcept;

 private:
  struct Parts;
  struct TensorAt {
    const TensorIndex* index = nullptr;
    ArchiveTensor operator()(std::size_t at) const noexcept { return (*index)[at]; }
  };

  std::unique_ptr<Parts> parts_;
};

/// By the index of the entry. Considers the tensors of the model and of all graphs. Errors: wire.*, onnx.*, with the
/// entry of the graph that cannot be read. Cost: O(directory + model + graphs), also of the functions below.
[[nodiscard]] std::vector<EntryKind> entry_kinds(const Archive& archive, const LoadOptions& options = {});

/// The entries that tensors of further graphs name, also if the model names them too, in the order of the file.
[[nodiscard]] std::vector<ArchiveEntry> entries_of_graphs(const Archive& archive, const LoadOptions& options = {});
std::vector<ArchiveEntry> entries_of_graphs(const Archive&& archive, const LoadOptions& options = {}) = delete;

/// The entries of kind side_file, in the order of the file. Valid as long as the archive.
[[nodiscard]] std::vector<ArchiveEntry> side_files(const Archive& archive, const LoadOptions& options = {});
std::vector<ArchiveEntry> side_files(const Archive&& archive, const LoadOptions& options = {}) = delete;

/// metadata_props of the model, in its order, as views of the archive. Errors: wire.*.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string_view>> metadata(const Archive& archive);
std::vector<std::pair<std::string_view, std::string_view>> metadata(const Archive&& archive) = delete;

}  // namespace ONNXAR_API onnxar
