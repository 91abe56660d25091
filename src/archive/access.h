// What an Archive holds, and access to it for this library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "base/mapped_file.h"
#include "base/memory.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "zip/directory.h"

namespace onnxar {

// The size from which on protobuf reads no message: the limit of models and graphs (P8, G2).

/// Whether protobuf can read a message of `size` bytes.
constexpr bool fits_protobuf(std::uint64_t size) noexcept { return size <= model_size_maximum; }

/// Words the message for a model that does not fit: with `the model is` it returns
/// `the model is 3.00 GiB (3221225472 bytes), and protobuf reads less than 2 GiB`.
std::string oversize_text(std::string_view subject_and_verb, std::uint64_t size);

// Aligned copies of bytes that an archive holds at unaligned addresses.

/// A cache of copies. Each copy begins at a multiple of 64, is made once per key, and is shared with the callers that
/// received it. Threads: any number may call concurrently; a caller waits while a copy is being made.
class AlignedCopies {
 public:
  static constexpr std::size_t alignment = default_alignment;

  /// Identifies a copy by the position of the original in the model.
  using Key = std::pair<std::uint64_t, std::uint64_t>;

  /// Returns the copy with this key. The first call for a key reads it from `source`. If the cache would exceed `limit`
  /// bytes, only the returned span owns the copy. Errors: std::bad_alloc and the errors of `source`; a failed copy is
  /// not kept.
  ByteSpan get(const Key& key, const ByteSource& source, std::uint64_t limit);

 private:
  std::mutex mutex_;
  std::map<Key, ByteSpan> kept_;
  std::uint64_t bytes_ = 0;
};

/// The bytes of a file that is opened as an archive.
struct OpenBytes {
  Bytes file;
  std::shared_ptr<const void> owner = {};      ///< keeps all others alive; without one, the caller does
  std::filesystem::path path = {};             ///< may be empty
  const base::FileOrigin* origin = nullptr;    ///< the file that they are mapped from; null for bytes in memory
  const base::RangedMemory* ranges = nullptr;  ///< the memory that they are read into; null if all are at hand
  bool edited_here = false;                    ///< an editor of this process holds the lock, and makes all changes
  zip::KnownZeros* zeros = nullptr;            ///< as Directory::read has it
};

/// What an Archive holds.
struct Archive::Parts {
  /// What all views of one opened archive share.
  struct Opened : OpenBytes {
    zip::Directory directory;
  };

  std::shared_ptr<Opened> opened;
  std::size_t model = 0;                                                      // the index of its entry
  std::unique_ptr<AlignedCopies> copies = std::make_unique<AlignedCopies>();  // const members use it
};

// Reads entries of an archive whose file is read by ranges.

/// The entries of one archive, whose directory and memory must outlive it. A small value. Local headers are proved by
/// the functions of the directory, and only the bytes that these read are fetched before. Threads: any.
class EntryRanges {
 public:
  EntryRanges(const zip::Directory& directory, const base::RangedMemory& memory) noexcept
      : directory_(&directory), memory_(&memory) {}

  /// Where the data of an entry is if its local header is as the directory suggests: always the same number. The rare
  /// header that is not, before a superseded tail, is found when it is proved.
  [[nodiscard]] std::uint64_t likely_data_offset(std::size_t index) const noexcept;
  /// Reads the local headers of all entries that were not proved, at once. Proves nothing.
  void read_headers() const;
  /// Reads `part`, counted from the first byte of the entry's data, and proves the entry's local header. Both take one
  /// call of the source if they lie as the directory suggests. Errors: as `prove`.
  void read(std::size_t index, const base::ByteRange& part) const;
  /// Reads the data and local headers of several entries in one call of the source. Errors: as `prove`.
  void read(std::span<const std::size_t> indices) const;
  /// Proves the local header of an entry from the first bytes of `whole(index)`, which the caller has read, and returns
  /// where the data is. REQUIRES: `room` is all of that range or at least 64 KiB. Errors: as `prove`.
  [[nodiscard]] std::uint64_t data_offset_in(Bytes room, std::size_t index) const;
  /// The range of an entry: local header, data, and what follows up to the next entry.
  [[nodiscard]] base::ByteRange whole(std::size_t index) const noexcept;

 private:
  [[nodiscard]] base::ByteRange header(std::size_t index) const noexcept;
  void prove_read(std::size_t index) const;

  const zip::Directory* directory_;
  const base::RangedMemory* memory_;
};

/// Proves what `open` proves of `file`. If `ranges` is not null, the bytes are in its memory, and what the directory's
/// reader wants is read before; otherwise all are at hand. Errors: zip.*, archive.*; those of reading ranges.
zip::Directory read_directory(Bytes file, const base::RangedMemory* ranges, const OpenOptions& options,
                              zip::KnownZeros* zeros = nullptr);

/// Static functions that open and read an Archive in ways that the public interface does not offer.
class ArchiveAccess {
 public:
  /// Every way of opening leads here. Errors: as Archive::open; those of reading ranges.
  static Archive open(OpenBytes bytes, const OpenOptions& options);
  /// The same archive with a different model: an entry of it that is a graph, or its own model.
  static Archive view(const Archive& archive, const ArchiveEntry& model) {
    return Archive(detail::own<Archive::Parts>(archive.parts_->opened, model.index));
  }
  /// The file that the archive is mapped from; null for bytes in memory.
  static const base::FileOrigin* origin(const Archive& archive) noexcept { return archive.parts_->opened->origin; }
  /// The aligned copies that the archive keeps.
  static AlignedCopies& copies(const Archive& archive) noexcept { return *archive.parts_->copies; }
  static const zip::Directory& directory(const Archive& archive) noexcept { return archive.parts_->opened->directory; }
  /// The memory of an archive that is read by ranges; null if all bytes are at hand.
  static const base::RangedMemory* ranges(const Archive& archive) noexcept { return archive.parts_->opened->ranges; }
  /// Notes that this process holds the editors' lock, so that it makes all changes of the file itself.
  static void note_edited_here(const Archive& archive) noexcept { archive.parts_->opened->edited_here = true; }
  static bool is_edited_here(const Archive& archive) noexcept { return archive.parts_->opened->edited_here; }
  /// The entries of such an archive. REQUIRES: ranges(archive) is not null.
  static EntryRanges entry_ranges(const Archive& archive) noexcept { return {directory(archive), *ranges(archive)}; }
  /// Where the bytes of an entry are, for a caller that plans and reads later, by an EntrySource or by `part`. As
  /// Archive::bytes, except that of an archive by ranges nothing is read.
  static Bytes place(const Archive& archive, const ArchiveEntry& entry);
  /// A part of such a place, read and proved. Errors: as Archive::bytes.
  static Bytes part(const Archive& archive, const ArchiveEntry& entry, Bytes place);
};

}  // namespace onnxar
