// Defines what an Archive holds, and provides access to it for the rest of the library.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>

#include "archive/aligned_copies.h"
#include "archive/archive_file.h"
#include "archive/entry_reader.h"
#include "base/file_origin.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "zip/directory.h"

namespace onnxar {

/// Holds the bytes of a file that is opened as an archive.
struct OpenBytes {
  ArchiveFile file;
  std::shared_ptr<const void> owner = {};    ///< keeps all others alive; without one, the caller does
  std::filesystem::path path = {};           ///< may be empty
  const base::FileOrigin* origin = nullptr;  ///< the file that they are mapped from; null for bytes in memory
  bool edited_here = false;                  ///< an editor of this process holds the lock, and makes all changes
  zip::KnownZeros* zeros = nullptr;          ///< as Directory::read has it
};

/// Holds the state of an Archive.
struct Archive::Parts {
  /// Holds what all views of one opened archive share.
  struct Opened : OpenBytes {
    zip::Directory directory;
  };

  std::shared_ptr<Opened> opened;
  std::size_t model = 0;                                                      // the index of its entry
  std::unique_ptr<AlignedCopies> copies = std::make_unique<AlignedCopies>();  // const members use it
};

/// Performs the checks of `open` on `file`. Throws zip.*, archive.*, and what ArchiveFile::need throws.
zip::Directory read_directory(const ArchiveFile& file, const OpenOptions& options, zip::KnownZeros* zeros = nullptr);

/// Returns the entry of this name. Throws usage.no_such_entry.
ArchiveEntry entry_named(const Archive& archive, std::string_view name);

/// Opens and reads an Archive in ways that the public interface does not offer.
class ArchiveAccess {
 public:
  /// Opens an archive; every public way of opening calls this. Throws what Archive::open throws, and what reading the
  /// ranges throws.
  static Archive open(OpenBytes bytes, const OpenOptions& options);
  /// Returns the same archive with a different model: one of its graphs, or its own model.
  static Archive view(const Archive& archive, const ArchiveEntry& model) {
    return Archive(detail::own<Archive::Parts>(archive.parts_->opened, model.index));
  }
  /// Returns the same archive, which shares its state. Both may be used after the other was destroyed.
  static Archive share(const Archive& archive) { return view(archive, archive.entry(archive.parts_->model)); }
  /// Returns the file that the archive is mapped from; null for bytes in memory.
  static const base::FileOrigin* origin(const Archive& archive) noexcept { return archive.parts_->opened->origin; }
  /// Returns the aligned copies that the archive keeps.
  static AlignedCopies& copies(const Archive& archive) noexcept { return *archive.parts_->copies; }
  static const zip::Directory& directory(const Archive& archive) noexcept { return archive.parts_->opened->directory; }
  /// Returns the file. All of it, or parts, are in memory.
  static const ArchiveFile& file(const Archive& archive) noexcept { return archive.parts_->opened->file; }
  /// Notes that this process holds the editors' lock, so all changes of the file are its own.
  static void note_edited_here(const Archive& archive) noexcept { archive.parts_->opened->edited_here = true; }
  static bool is_edited_here(const Archive& archive) noexcept { return archive.parts_->opened->edited_here; }
  static EntryReader reader(const Archive& archive) noexcept { return {directory(archive), file(archive)}; }
  /// Returns where the bytes of an entry are, like Archive::bytes, but reads nothing if the archive is read in ranges.
  /// The caller reads them later, with an EntrySource or `part`.
  static Bytes place(const Archive& archive, const ArchiveEntry& entry);
  /// Reads and proves a part of the bytes that `place` returned. Throws what Archive::bytes throws.
  static Bytes part(const Archive& archive, const ArchiveEntry& entry, Bytes place);
};

}  // namespace onnxar
