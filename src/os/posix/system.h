// What POSIX systems do differently: posix/ calls these functions, the folder of each system defines them. A system's
// folder also defines the functions of the seam that posix/ does not define.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <ctime>
#include <filesystem>
#include <span>
#include <system_error>

#include "os/file.h"

namespace onnxar::os {

// Of each system.

/// The flags of open(2) for a folder in which names are looked up.
extern const int lookup_flags;
timespec modified_of(const struct stat& status) noexcept;
timespec changed_of(const struct stat& status) noexcept;
/// Asks for huge pages. Advice: never fails.
void advise_huge_pages(std::span<const std::byte> memory) noexcept;

// Of all of them, for the folders of systems.

/// The mode of a new file. The umask takes permissions away.
constexpr mode_t for_all = 0666;

/// open_beneath for systems that cannot check a whole path: opens the path part by part, the last one with
/// `last_flags`. Follows no link at all.
File open_part_by_part(Handle folder, const std::filesystem::path& relative, int last_flags,
                       std::error_code& failed) noexcept;
/// rename_to_free_name for file systems that do not know such a call. A hard link never replaces a file either; between
/// its two calls the file has both names, which does no harm.
std::error_code rename_by_link(Handle folder, const std::filesystem::path& from,
                               const std::filesystem::path& to) noexcept;
/// populate for systems that cannot report pages beyond the end of the file: reading one raises SIGBUS.
void read_each_page(std::span<const std::byte> bytes) noexcept;
/// Gives the advice, of madvise(2), on the pages that `bytes` touch.
std::error_code advise(std::span<const std::byte> bytes, int advice) noexcept;

}  // namespace onnxar::os
