// Makes the entries of a foreign zip readable as memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "archive/foreign_zip.h"
#include "archive/spool.h"
#include "archive/zip_expansion.h"
#include "base/mapped_file.h"
#include "onnxar/bytes.h"
#include "zip/foreign_directory.h"
#include "zip/format.h"

namespace onnxar {

/// Presents stored entries as views of the mapped file, and deflated entries as views of a nameless file, into which
/// each is inflated when it is first read. So entries are not held in memory, and unread entries are not inflated. Owns
/// both files. Move-only. Not synchronised, except where noted.
class UnpackedZip {
 public:
  /// Reads the directory of the file at `path`. Inflated entries go to a file in `folder`. The entries that are
  /// used may inflate to `max_expansion` times the size of the zip. Throws io.* and zip.*. Cost: O(entries).
  UnpackedZip(std::shared_ptr<const base::MappedFile> file, std::filesystem::path path, std::filesystem::path folder,
              std::uint64_t max_expansion, const zip::Limits& limits = {});

  /// Does what `find_foreign_model` does. REQUIRES: it is called once, and before entries are used. Cost: O(entries),
  /// and O(bytes) of the model.
  [[nodiscard]] ForeignModel find_model();
  [[nodiscard]] const zip::ForeignDirectory& directory() const noexcept { return directory_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] const base::MappedFile& file() const noexcept { return *file_; }
  [[nodiscard]] const zip::ForeignEntry& entry(std::size_t index) const { return directory_.entries()[index]; }

  /// Returns the bytes of an entry. A deflated entry is inflated and verified; a stored entry is not verified. Throws
  /// zip.* and io.*.
  [[nodiscard]] Bytes bytes(std::size_t index);
  /// Returns the range of an entry's bytes. A deflated entry is inflated later, when `bytes` is called or a source is
  /// read. Throws zip.limit.expansion and io.*.
  [[nodiscard]] Bytes place_of(std::size_t index);
  /// Returns the bytes of a stored entry. It does not count as used. REQUIRES: it is not deflated.
  [[nodiscard]] Bytes stored(std::size_t index) const;
  /// Throws zip.data.crc if the CRC-32 of a stored entry is wrong.
  void verify(std::size_t index) const;
  /// Returns a source of the bytes of an entry. It verifies them while it is read, with up to `threads` threads (0: one
  /// per core), and may be read by any thread. Throws zip.limit.expansion.
  [[nodiscard]] static std::unique_ptr<const ByteSource> source(std::shared_ptr<UnpackedZip> zip, std::size_t index,
                                                                std::size_t threads);
  /// Returns a source of `part`, a part of the range that `place_of` returned for a deflated entry.
  [[nodiscard]] static std::unique_ptr<const ByteSource> inflated_source(std::shared_ptr<const UnpackedZip> zip,
                                                                         std::size_t index, Bytes part);

 private:
  void use(std::size_t index);
  [[nodiscard]] std::uint64_t room_to_inflate() const;

  std::filesystem::path path_;
  std::filesystem::path folder_;
  std::shared_ptr<const base::MappedFile> file_;
  zip::ForeignDirectory directory_;
  ZipExpansion expansion_;
  std::vector<bool> used_;  // by index: true if the entry is counted in expansion_
  std::shared_ptr<Spool> spool_;
};

}  // namespace onnxar
