// What is in an archive: entries, the tensors in them, and where the bytes go.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/options.h"
#include "onnxar/tensor.h"
#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

/// What an entry is there for.
enum class EntryKind : std::uint8_t {
  weight,     ///< a tensor of some graph names it
  side_file,  ///< none does, and its name is not a C identifier: `tokenizer.json`
  graph,      ///< a further graph over the same weights: `NAME.onnx` in the root
  unused,     ///< none names it, and its name is a key: an edit has left it
  model,      ///< `__MODEL_PROTO`
};
[[nodiscard]] std::string_view to_string(EntryKind kind) noexcept;

struct ListedEntry {
  std::string name;
  std::uint64_t offset = 0;  ///< of the first byte, absolute
  std::uint64_t size = 0;    ///< bytes
  std::uint32_t crc32 = 0;
  std::uint64_t alignment = 0;      ///< as recorded; 64 where no record is
  std::uint64_t header_offset = 0;  ///< of the entry's local header, absolute
  std::uint64_t padding = 0;        ///< bytes of the padding record; 0 where there is none
  std::vector<TensorInfo> tensors;  ///< those of the model whose data is in this entry; none for a side file
  EntryKind kind = EntryKind::weight;
};

struct Listing {
  std::uint64_t file_size = 0;
  std::uint64_t alignment = 0;       ///< what every entry honours: the smallest one recorded
  std::uint64_t unused_bytes = 0;    ///< of earlier states of the model, left by edits
  std::uint64_t padding_bytes = 0;   ///< of padding records
  ListedEntry model;                 ///< the entry of the ModelProto
  std::vector<ListedEntry> entries;  ///< all others, in the order of the file
};

/// Lists an archive. Errors: io.*, zip.*, archive.*, wire.*. Cost: O(directory + model); reads every local header.
[[nodiscard]] Listing ls(const std::filesystem::path& path, const LoadOptions& options = {});
/// The same of an archive that is open. Errors: io.changed, zip.*, wire.*.
[[nodiscard]] Listing ls(const Archive& archive, const LoadOptions& options = {});

[[deprecated("use ls")]] [[nodiscard]]
inline Listing list(const std::filesystem::path& path, const LoadOptions& options = {}) {
  return ls(path, options);
}
[[deprecated("use ls")]] [[nodiscard]]
inline Listing list(const Archive& archive, const LoadOptions& options = {}) {
  return ls(archive, options);
}

/// A tensor of an archive's model, wherever its data is.
struct StoredTensor : TensorInfo {
  std::uint64_t offset = 0;  ///< of the TensorProto in the model, bytes
  std::uint64_t size = 0;    ///< of the TensorProto, bytes
};

/// Every tensor of the model, at every site, in the order of the model: for programs that do without protobuf.
/// Errors: wire.*, onnx.*. Cost: O(model).
[[nodiscard]] std::vector<StoredTensor> tensors(const Archive& archive, const LoadOptions& options = {});

/// The kind of each entry, by its index. The tensors of the model and of all graphs count. Errors: wire.*, onnx.*,
/// naming the entry of the graph that cannot be read. Cost: O(directory + model + graphs).
[[nodiscard]] std::vector<EntryKind> entry_kinds(const Archive& archive, const LoadOptions& options = {});

/// The further graphs of an archive: entries `NAME.onnx` in its root, each a ModelProto over the archive's entries. In
/// the order of the file, views as Archive::entry gives them. Cost: O(directory).
[[nodiscard]] std::vector<ArchiveEntry> graphs(const Archive& archive);
std::vector<ArchiveEntry> graphs(const Archive&& archive) = delete;

/// The entries that tensors of further graphs name, whatever the model names: what these graphs cannot do without. In
/// the order of the file. Errors: wire.*, onnx.*. Cost: O(directory + graphs).
[[nodiscard]] std::vector<ArchiveEntry> entries_of_graphs(const Archive& archive, const LoadOptions& options = {});
std::vector<ArchiveEntry> entries_of_graphs(const Archive&& archive, const LoadOptions& options = {}) = delete;

/// Entries that no tensor of the model or of a graph names, that are not a graph, and whose name is not a C identifier,
/// such as `tokenizer.json`: what goes along with the model. In the order of the file, views as Archive::entry gives
/// them. Errors: wire.*, onnx.*. Cost: O(directory + model + graphs).
[[nodiscard]] std::vector<ArchiveEntry> side_files(const Archive& archive, const LoadOptions& options = {});
std::vector<ArchiveEntry> side_files(const Archive&& archive, const LoadOptions& options = {}) = delete;

/// The model's metadata_props, views of the archive, in the order of the model. Errors: wire.*.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string_view>> metadata(const Archive& archive);
std::vector<std::pair<std::string_view, std::string_view>> metadata(const Archive&& archive) = delete;

/// The raw bytes of a tensor that `tensors` gave for this archive:
/// - data in an entry: a view of it with a share in `archive.owner()`. ByteSpan::alignment says what its address is a
///   multiple of: at offset 0 the entry's alignment, else as the link has it;
/// - data in the model at a multiple of 64: a view of it with a share in `archive.owner()`;
/// - data in the model elsewhere, and typed fields that are decoded: a copy at a multiple of 64 with a share in its
///   memory, which the archive keeps: the next call gives the same bytes.
///
/// A vector load from data in the model is thus safe, whatever odd place protobuf gave it. A tensor is copied once for
/// each Archive; the copies that an archive keeps are not larger together than its model, and what would exceed that is
/// kept by the span alone. Threads: as Archive.
///
/// Errors: usage.foreign_entry (not a tensor of this archive's model); onnx.external*; those of Archive::locate;
/// onnx.tensor.* (what `check` calls an error; .strings; .not_converted: too many typed values, or out of range). Cost:
/// O(fields of the tensor), and at the first call of data in the model O(bytes).
[[nodiscard]] ByteSpan tensor_data(const Archive& archive, const StoredTensor& tensor);

}  // namespace ONNXAR_API onnxar
