// Open folders, and names of files in them. The handle keeps its folder even if a different folder takes over the path.
#pragma once

#include <cstdint>
#include <filesystem>
#include <system_error>

#include "os/file.h"

namespace onnxar::os {

/// Opens a folder for looking up names in it; links on the way are followed.
File open_folder(const std::filesystem::path& path, std::error_code& failed) noexcept;
/// Opens the folder `name`, one part of a path or `..`, of `folder`; a link is not followed.
File open_folder_in(Handle folder, const std::filesystem::path& name, std::error_code& failed) noexcept;

enum class Links : std::uint8_t { follow, refuse };

/// Opens a file for reading by a path that does not leave `folder` at any step: not by `..`, an absolute path or a
/// link, even if another process moves folders meanwhile. With Links::follow, links that stay in the folder are
/// followed; systems that cannot check this follow no link. Reason::outside if the path leaves the folder.
File open_beneath(Handle folder, const std::filesystem::path& relative, Links links, std::error_code& failed) noexcept;
/// Opens a folder beneath `folder` for looking up names in it. Follows no link.
File open_folder_beneath(Handle folder, const std::filesystem::path& relative, std::error_code& failed) noexcept;

/// Returns the status of the name in the folder; a link is not followed.
FileStatus status_in(Handle folder, const std::filesystem::path& name, std::error_code& failed) noexcept;
/// Returns the target that the link of this name holds.
std::filesystem::path read_link(Handle folder, const std::filesystem::path& name, std::error_code& failed);
/// True if the system would follow the link of this name. It does not follow a link that a different user made in a
/// sticky, world-writable folder: such a link can be a trap.
bool may_follow_link(Handle folder, const std::filesystem::path& name, std::error_code& failed) noexcept;

/// Creates a file without a name on the folder's file system, open for reading and writing. It vanishes when it is
/// closed, unless `give_name` named it. Reason::unsupported where files cannot be created or named this way.
File create_unseen(Handle folder, std::error_code& failed) noexcept;
/// The users who get permissions for a new file or folder, on POSIX: all that the umask leaves, or only its owner.
enum class Users : std::uint8_t { all, owner };

/// Creates the file `name`. Reason::exists if something has this name.
File create_new(Handle folder, const std::filesystem::path& name, std::error_code& failed,
                Users users = Users::all) noexcept;
/// Opens the file `name`, which is there already, for reading and writing. A link is not followed.
File open_existing(Handle folder, const std::filesystem::path& name, std::error_code& failed) noexcept;

/// The reason why another user may control the bytes of a file.
enum class Ownership : std::uint8_t { own, not_regular, other_owner, other_writers, several_names };
/// Returns the first reason that applies to an open file; `own` if it is a regular file with one name, this user or
/// root owns it, and no other user may write to it. Access control lists are not read, nor owners on Windows, where
/// files inherit the permissions of their folder.
Ownership ownership_of(Handle file, std::error_code& failed) noexcept;

/// Gives a file of `create_unseen` its name. Reason::exists if something has this name.
std::error_code give_name(Handle file, Handle folder, const std::filesystem::path& name) noexcept;
/// Renames within the folder. Atomically replaces a file that has the new name.
std::error_code rename_over(Handle folder, const std::filesystem::path& from, const std::filesystem::path& to) noexcept;
/// Renames `from` of `folder` to `to` of the folder `into`. Reason::exists if something has the new name;
/// Reason::outside if the folders are on different volumes.
std::error_code rename_to_free_name(Handle folder, const std::filesystem::path& from, Handle into,
                                    const std::filesystem::path& to) noexcept;
/// Makes the symbolic link `name`. Reason::exists if something has this name; Reason::unsupported where links cannot be
/// made.
std::error_code make_link(Handle folder, const std::filesystem::path& name,
                          const std::filesystem::path& target) noexcept;

/// Gives the file the permissions of the file `name`, if that exists, except set-user-ID and set-group-ID: the new file
/// may have a different owner, and its bytes must not run in that owner's name. A file system without permissions is
/// not a failure.
std::error_code keep_mode(Handle file, Handle folder, const std::filesystem::path& name) noexcept;

/// Gives the file the permissions of the file `model`, with the same exceptions.
std::error_code take_mode(Handle file, Handle model) noexcept;

/// Reason::exists if something has this name.
std::error_code make_folder(Handle folder, const std::filesystem::path& name, Users users = Users::all) noexcept;
bool is_empty(Handle folder, std::error_code& failed) noexcept;
/// Waits until the disk has all names in the folder. A file system that cannot sync folders is not a failure.
std::error_code sync_folder(Handle folder) noexcept;
/// Removes the file, or link, of this name.
std::error_code remove_file(Handle folder, const std::filesystem::path& name) noexcept;
/// Removes the empty folder of this name.
std::error_code remove_folder(Handle folder, const std::filesystem::path& name) noexcept;

}  // namespace onnxar::os
