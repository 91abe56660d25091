// Describes the content of an archive: entries, what each is for, the model's metadata, and the digest of all.
//
//   for (const onnxar::ListedEntry& entry : onnxar::ls(archive).entries) use(entry.name, entry.size);
//   std::cout << onnxar::digest(archive).hex << '\n';  // the same for every order and alignment of the entries
//
// Threads: all functions may be called concurrently.
#pragma once

#include "onnxar/archive.h"
#include "onnxar/options.h"
#include "onnxar/tensor.h"

namespace ONNXAR_API onnxar {

enum class EntryKind : std::uint8_t {
  weight,     ///< a tensor of the model or of a graph names it
  side_file,  ///< no tensor names it, and its name is not a C identifier: `tokenizer.json`
  graph,      ///< a further graph over the same weights: `NAME.onnx`, in any folder
  unused,     ///< no tensor names it, and its name is a key: left by an edit
  model,      ///< `__MODEL_PROTO`
};
[[nodiscard]] std::string_view to_string(EntryKind kind) noexcept;

struct ListedEntry {
  std::string name;
  std::uint64_t offset = 0;  ///< of the first byte, absolute
  std::uint64_t size = 0;    ///< bytes
  std::uint32_t crc32 = 0;
  std::uint64_t alignment = 0;      ///< as recorded; 64 without a record; 0 if unknown (archive read in ranges)
  std::uint64_t header_offset = 0;  ///< absolute
  std::uint64_t padding = 0;        ///< bytes of the padding record
  std::vector<TensorInfo> tensors;  ///< tensors with data in this entry: of the model, or else of graphs[0]
  EntryKind kind = EntryKind::weight;
  /// The graphs that have tensors with data in this entry, by their entries' names, the model first. Of a damaged
  /// graph, only the readable part counts.
  std::vector<std::string> graphs = {};
};

struct Listing {
  std::uint64_t file_size = 0;
  std::uint64_t alignment = 0;      ///< the smallest recorded one; 0 if unknown
  std::uint64_t unused_bytes = 0;   ///< held by earlier states of the model, which edits left
  std::uint64_t padding_bytes = 0;  ///< of padding records
  ListedEntry model;
  std::vector<ListedEntry> entries;  ///< all others, in the order of the file
  std::string model_name = {};       ///< the model's own name as a graph; empty if it has none
};

/// Lists the content of an archive. Throws io.*, zip.*, archive.*, wire.*. Cost: O(directory + model); reads every
/// local header.
[[nodiscard]] Listing ls(const std::filesystem::path& path, const LoadOptions& options = {});
/// With range reading, reads no local header: offsets are computed, and `padding` is everything between the name and
/// the data.
[[nodiscard]] Listing ls(const Archive& archive);

/// Returns the entries that tensors of additional graphs name, even if the model names them too, in the order of the
/// file. Throws wire.*, onnx.*, with the entry of the graph that cannot be read. Cost: O(directory + model + graphs).
[[nodiscard]] std::vector<ArchiveEntry> entries_of_graphs(const Archive& archive);
std::vector<ArchiveEntry> entries_of_graphs(const Archive&& archive) = delete;

/// Returns the entries of kind side_file, in the order of the file. Valid as long as the archive. Throws and costs what
/// `entries_of_graphs` does.
[[nodiscard]] std::vector<ArchiveEntry> side_files(const Archive& archive);
std::vector<ArchiveEntry> side_files(const Archive&& archive) = delete;

/// Returns the model's metadata_props in their order, as views of the archive. Throws wire.*. Cost: O(model).
[[nodiscard]] std::vector<std::pair<std::string_view, std::string_view>> metadata(const Archive& archive);
std::vector<std::pair<std::string_view, std::string_view>> metadata(const Archive&& archive) = delete;

/// The side file that holds a signature of the digest. The digest does not cover it.
inline constexpr std::string_view signature_entry_name = "onnxar.sig";

struct DigestOptions {
  std::size_t threads = 0;         ///< each hashes one entry at a time; 0: one for each core
  ProgressCallback progress = {};  ///< bytes of entries that were hashed
};

struct EntryDigest {
  std::string name;
  std::string hex;  ///< SHA-256 of the entry's bytes: 64 lower-case hexadecimal digits
};

/// The digest of an archive's content (spec/digest.md): of the names and bytes of all entries except the side file
/// `signature_entry_name`. It does not depend on the order of the entries, their offsets or the file's name.
struct Digest {
  std::string hex;                   ///< SHA-256 of the manifest
  std::vector<EntryDigest> entries;  ///< in ascending order of the names' bytes, the model under its own name

  /// Returns a line `HEX  NAME` for each entry, as sha256sum prints it for the unzipped archive.
  [[nodiscard]] std::string manifest() const;
};

/// Computes the digest. Reads all entries and compares their CRC-32s, so damaged data has no digest. With range
/// reading, one thread reads from front to back and keeps nothing. Throws zip.data.crc; io.changed (the file changed
/// meanwhile); what Archive::locate throws; wire.*, onnx.* (only if there is an entry `signature_entry_name`: only then
/// are graphs read). Cost: O(bytes), 1 to 2 GB/s per thread on CPUs with SHA-256 instructions; threads do not share an
/// entry. Memory: 1 MiB per thread, 16 MiB with range reading.
[[nodiscard]] Digest digest(const Archive& archive, const DigestOptions& options = {});

}  // namespace ONNXAR_API onnxar
