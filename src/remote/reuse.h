// Copies entries of archives on this machine into a file that is being downloaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "base/progress.h"
#include "onnxar/archive.h"
#include "onnxar/remote.h"
#include "os/file.h"
#include "remote/part_file.h"
#include "zip/directory.h"

namespace onnxar {

/// An archive on this machine whose entries may be copied.
struct OldArchive {
  os::File file;
  Archive archive;

  /// Throws what Archive::open throws.
  static OldArchive open(const std::filesystem::path& path);
};

/// Opens the archives whose entries may be copied: options.reuse and, if it may be replaced and is an archive, the file
/// at `output`. Throws what Archive::open throws for the former.
std::vector<OldArchive> old_archives(const std::filesystem::path& output, const GetOptions& options);

/// An entry that an archive on this machine seems to have: the size and the CRC-32 are equal.
struct ReusableEntry {
  std::size_t index = 0;  ///< in the wanted directory
  std::size_t old = 0;    ///< the index of the archive that has it
  ArchiveEntry entry;
  std::uint64_t offset = 0;  ///< of the data in the wanted file, as its directory suggests
};

/// Returns the entries of `wanted` that one of the archives seems to have, without those that are so small that a
/// request for them costs less. The archives must outlive the result. Cost: O(entries * log entries).
std::vector<ReusableEntry> reusable_entries(const zip::Directory& wanted, std::span<const Archive* const> archives);
std::vector<ReusableEntry> reusable_entries(const zip::Directory& wanted, std::span<const OldArchive> archives);

/// Returns the number of bytes in the data of the entries.
std::uint64_t bytes_of(std::span<const ReusableEntry> entries);

/// Copies the data of these entries of `archives` into `part`, or shares its blocks where the file system can, and
/// notes them there. Leaves out those that `part` has, and those whose bytes do not have their CRC-32. Returns which
/// entries were copied. Throws io.changed if an archive was changed meanwhile; io.*. REQUIRES: `count` is the number of
/// entries of the wanted directory.
std::vector<bool> copy_entries(std::span<const ReusableEntry> entries, std::span<const OldArchive> archives,
                               std::size_t count, PartFile& part, std::size_t threads, base::SharedProgress& progress);

}  // namespace onnxar
