// Access to private parts of an Archive, for this library.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "archive/entry_ranges.h"
#include "archive/parts.h"
#include "base/file_origin.h"
#include "base/memory.h"
#include "onnxar/archive.h"
#include "zip/directory.h"

namespace onnxar {

// The size from which on protobuf reads no message: the limit of models and graphs (P8, G2).

/// Whether protobuf can read a message of `size` bytes.
constexpr bool fits_protobuf(std::uint64_t size) noexcept { return size <= model_size_maximum; }

/// Words the message for a model that does not fit: with `the model is` it returns
/// `the model is 3.00 GiB (3221225472 bytes), and protobuf reads less than 2 GiB`.
std::string oversize_text(std::string_view subject_and_verb, std::uint64_t size);

/// Static functions that open and read an Archive in ways that the public interface does not offer.
class ArchiveAccess {
 public:
  /// Opens `bytes`, the contents of the file at `path`. `origin` is the file that they are mapped from, or null. It
  /// must live as long as `owner`.
  static Archive open(Bytes bytes, std::shared_ptr<const void> owner, const std::filesystem::path& path,
                      const OpenOptions& options, const base::FileOrigin* origin = nullptr);
  /// The same archive with a different model: an entry of it that is a graph, or its own model.
  static Archive view(const Archive& archive, const ArchiveEntry& model);
  /// As Archive::open. `ranges` is the memory in which the bytes are, or null if all are at hand; `owner` keeps it
  /// alive.
  static Archive open_ranges(Bytes bytes, const base::RangedMemory* ranges, std::shared_ptr<const void> owner,
                             const OpenOptions& options);
  /// Opens the first `size` bytes of an open archive, which shares its bytes: a state before an edit.
  static Archive open_state(const Archive& archive, std::uint64_t size);
  /// The file that the archive is mapped from; null for bytes in memory.
  static const base::FileOrigin* origin(const Archive& archive) noexcept;
  /// The aligned copies that the archive keeps.
  static AlignedCopies& copies(const Archive& archive) noexcept;
  static const zip::Directory& directory(const Archive& archive) noexcept;
  /// Proves the local header of an entry. Errors: as Archive::locate.
  static zip::LocalEntry local(const Archive& archive, std::size_t index);
  /// The memory of an archive that is read by ranges; null if all bytes are at hand.
  static const base::RangedMemory* ranges(const Archive& archive) noexcept;
  /// The entries of such an archive. REQUIRES: ranges(archive) is not null.
  static EntryRanges entry_ranges(const Archive& archive) noexcept { return {directory(archive), *ranges(archive)}; }
  /// Reads and proves several entries of such an archive at once. Errors: as Archive::bytes.
  static void read(const Archive& archive, std::span<const std::size_t> indices);
  /// Whether all bytes from `offset` on are at hand, after reading them if they were not.
  static bool has_read_from(const Archive& archive, std::uint64_t offset) noexcept;
  /// Where the bytes of an entry are, for a caller that plans and reads later, by an EntrySource or by `part`. As
  /// Archive::bytes, except that of an archive by ranges nothing is read.
  static Bytes place(const Archive& archive, const ArchiveEntry& entry);
  /// A part of such a place, read and proved. Errors: as Archive::bytes.
  static Bytes part(const Archive& archive, const ArchiveEntry& entry, Bytes place);
};

}  // namespace onnxar
