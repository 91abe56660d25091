// Output files: creation without a name, names, room on the disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <system_error>

#include "os/file.h"

namespace onnxar::os {

/// Creates a file without a name on the folder's file system, open for reading and writing. It vanishes when it is
/// closed, unless `give_name` named it. Reason::unsupported where files cannot be created or named this way.
File create_unseen(Handle folder, std::error_code& failed) noexcept;
/// Creates the file `name`. Reason::exists if something has this name.
File create_new(Handle folder, const std::filesystem::path& name, std::error_code& failed) noexcept;

/// Gives a file of `create_unseen` its name. Reason::exists if something has this name.
std::error_code give_name(Handle file, Handle folder, const std::filesystem::path& name) noexcept;
/// Renames within the folder. Atomically replaces a file that has the new name.
std::error_code rename_over(Handle folder, const std::filesystem::path& from, const std::filesystem::path& to) noexcept;
/// Renames within the folder. Reason::exists if something has the new name.
std::error_code rename_to_free_name(Handle folder, const std::filesystem::path& from,
                                    const std::filesystem::path& to) noexcept;

/// Gives the file the permissions of the file `name`, if that exists, except set-user-ID and set-group-ID: the new file
/// may have a different owner, and its bytes must not run in that owner's name. A file system without permissions is
/// not a failure.
std::error_code keep_mode(Handle file, Handle folder, const std::filesystem::path& name) noexcept;

/// Lets the parts that are not written take no room on the disk, where that is not what the file system does anyway.
/// Advice: never fails.
void allow_holes(Handle file) noexcept;

enum class FileSize : std::uint8_t { grows, stays };

/// Reserves blocks on the disk for this part of the file.
std::error_code set_aside(Handle file, std::uint64_t offset, std::uint64_t length, FileSize size) noexcept;
/// Whether files on the file system of `file` can share blocks.
bool can_share_blocks(Handle file) noexcept;
/// Makes a part of `file` share the blocks of a part of `source` until either is written to. Reason::outside if the
/// files are on different volumes.
std::error_code share_blocks(Handle file, std::uint64_t offset, Handle source, std::uint64_t source_offset,
                             std::uint64_t length) noexcept;
/// Asks the system to begin writing this part to the disk, and returns at once. Advice: never fails.
void start_writeback(Handle file, std::uint64_t offset, std::uint64_t length) noexcept;

}  // namespace onnxar::os
