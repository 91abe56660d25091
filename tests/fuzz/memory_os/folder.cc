// os/folder.h for fuzzers: folders, names and renaming, in memory.
#include "os/folder.h"

#include "files.h"

namespace onnxar::os {
namespace {

namespace fs = std::filesystem;
using memory::error;
using memory::files;
using memory::Node;

/// Nothing if the handle is not an open folder, or the name leads out of it.
std::optional<std::string> path_in(Handle folder, const fs::path& name, std::error_code& failed) {
  const auto opening = files().at(folder);
  failed = opening ? std::error_code() : error(std::errc::bad_file_descriptor);
  if (failed) return std::nullopt;
  auto path = memory::beneath(*opening, name);
  if (!path) failed = error(std::errc::cross_device_link);
  return path;
}

File open_kind(const std::string& path, bool folder, std::error_code& failed) {
  const auto node = files().find(path);
  if (!node) failed = error(std::errc::no_such_file_or_directory);
  if (node && folder && node->kind != FileKind::folder) failed = error(std::errc::not_a_directory);
  return failed ? File() : files().opened(node, path, false);
}

std::error_code name_node(const std::shared_ptr<Node>& node, const std::string& path) {
  if (!files().names.try_emplace(path, node).second) return error(std::errc::file_exists);
  return {};
}

std::error_code remove_kind(Handle folder, const fs::path& name, FileKind kind) {
  const std::scoped_lock lock(files().mutex);
  std::error_code failed;
  const auto path = path_in(folder, name, failed);
  if (!path) return failed;
  const auto node = files().find(*path);
  if (!node) return error(std::errc::no_such_file_or_directory);
  if (node->kind != kind) return error(std::errc::is_a_directory);
  files().names.erase(*path);
  return {};
}

std::error_code rename_within(Handle folder, const fs::path& from, const fs::path& to, bool replaces) {
  const std::scoped_lock lock(files().mutex);
  std::error_code failed;
  const auto source = path_in(folder, from, failed);
  const auto target = path_in(folder, to, failed);
  if (!source || !target) return failed;
  const auto node = files().find(*source);
  if (!node) return error(std::errc::no_such_file_or_directory);
  const auto present = files().find(*target);
  if (present && !replaces) return error(std::errc::file_exists);
  if (present && present->kind == FileKind::folder) return error(std::errc::is_a_directory);
  files().names.erase(*source);
  files().names.insert_or_assign(*target, node);
  return {};
}

}  // namespace

File open_folder(const fs::path& path, std::error_code& failed) noexcept {
  const std::string name = memory::normal(path);
  const std::scoped_lock lock(files().mutex);
  failed.clear();
  return open_kind(name, true, failed);
}

File open_folder_in(Handle folder, const fs::path& name, std::error_code& failed) noexcept {
  const std::scoped_lock lock(files().mutex);
  const auto path = path_in(folder, name, failed);
  return path ? open_kind(*path, true, failed) : File();
}

File open_beneath(Handle folder, const fs::path& relative, Links /*links*/, std::error_code& failed) noexcept {
  const std::scoped_lock lock(files().mutex);
  const auto path = path_in(folder, relative, failed);
  return path ? open_kind(*path, false, failed) : File();
}

File open_folder_beneath(Handle folder, const fs::path& relative, std::error_code& failed) noexcept {
  return open_folder_in(folder, relative, failed);
}

FileStatus status_in(Handle folder, const fs::path& name, std::error_code& failed) noexcept {
  std::string path;
  {
    const std::scoped_lock lock(files().mutex);
    const auto found = path_in(folder, name, failed);
    if (!found) return {};
    path = *found;
  }
  return status_of(fs::path(path), failed);
}

fs::path read_link(Handle /*folder*/, const fs::path& /*name*/, std::error_code& failed) {
  failed = error(std::errc::invalid_argument);
  return {};
}

bool may_follow_link(Handle /*folder*/, const fs::path& /*name*/, std::error_code& failed) noexcept {
  failed = error(std::errc::invalid_argument);
  return false;
}

std::error_code make_folder(Handle folder, const fs::path& name, Users /*users*/) noexcept {
  const std::scoped_lock lock(files().mutex);
  std::error_code failed;
  const auto path = path_in(folder, name, failed);
  return path ? name_node(files().make(FileKind::folder), *path) : failed;
}

bool is_empty(Handle folder, std::error_code& failed) noexcept {
  const std::scoped_lock lock(files().mutex);
  const auto path = path_in(folder, ".", failed);
  if (!path) return false;
  const auto next = files().names.lower_bound(*path + "/");
  return next == files().names.end() || !next->first.starts_with(*path + "/");
}

std::error_code sync_folder(Handle /*folder*/) noexcept { return {}; }

std::error_code remove_file(Handle folder, const fs::path& name) noexcept {
  return remove_kind(folder, name, FileKind::regular);
}

std::error_code remove_folder(Handle folder, const fs::path& name) noexcept {
  return remove_kind(folder, name, FileKind::folder);
}

File create_unseen(Handle folder, std::error_code& failed) noexcept {
  const std::scoped_lock lock(files().mutex);
  const auto path = path_in(folder, ".", failed);
  return path ? files().opened(files().make(FileKind::regular), "", true) : File();
}

File create_new(Handle folder, const fs::path& name, std::error_code& failed, Users /*users*/) noexcept {
  const std::scoped_lock lock(files().mutex);
  const auto path = path_in(folder, name, failed);
  if (!path) return {};
  const auto node = files().make(FileKind::regular);
  failed = name_node(node, *path);
  return failed ? File() : files().opened(node, *path, true);
}

// Memory has one user, and no link is made.
File open_existing(Handle folder, const fs::path& name, std::error_code& failed) noexcept {
  const std::scoped_lock lock(files().mutex);
  const auto path = path_in(folder, name, failed);
  const auto node = path ? files().find(*path) : nullptr;
  if (path && !node) failed = error(std::errc::no_such_file_or_directory);
  return failed ? File() : files().opened(node, *path, true);
}

Ownership ownership_of(Handle file, std::error_code& failed) noexcept {
  return status_of(file, failed).kind == FileKind::regular ? Ownership::own : Ownership::not_regular;
}

std::error_code give_name(Handle file, Handle folder, const fs::path& name) noexcept {
  const std::scoped_lock lock(files().mutex);
  std::error_code failed;
  const auto path = path_in(folder, name, failed);
  const auto opening = files().at(file);
  if (!opening) return error(std::errc::bad_file_descriptor);
  return path ? name_node(opening->node, *path) : failed;
}

std::error_code rename_over(Handle folder, const fs::path& from, const fs::path& to) noexcept {
  return rename_within(folder, from, to, true);
}

std::error_code rename_to_free_name(Handle folder, const fs::path& from, Handle /*into*/, const fs::path& to) noexcept {
  return rename_within(folder, from, to, false);
}

std::error_code make_link(Handle /*folder*/, const fs::path& /*name*/, const fs::path& /*target*/) noexcept {
  return error(std::errc::operation_not_supported);
}

void allow_holes(Handle /*file*/) noexcept {}

std::error_code keep_mode(Handle /*file*/, Handle /*folder*/, const fs::path& /*name*/) noexcept { return {}; }

std::error_code take_mode(Handle /*file*/, Handle /*model*/) noexcept { return {}; }

/// Memory is not reserved: only a size that no disk has is refused.
std::error_code set_aside(Handle file, std::uint64_t offset, std::uint64_t length, FileSize size) noexcept {
  constexpr std::uint64_t disk = std::uint64_t{1} << 30U;
  if (length > disk || offset > disk - length) return error(std::errc::no_space_on_device);
  std::error_code failed;
  if (size == FileSize::stays || status_of(file, failed).size >= offset + length) return failed;
  return set_size(file, offset + length);
}

bool can_share_blocks(Handle /*file*/) noexcept { return false; }

std::error_code share_blocks(Handle /*file*/, std::uint64_t /*offset*/, Handle /*source*/,
                             std::uint64_t /*source_offset*/, std::uint64_t /*length*/) noexcept {
  return error(std::errc::operation_not_supported);
}

void start_writeback(Handle /*file*/, std::uint64_t /*offset*/, std::uint64_t /*length*/) noexcept {}

}  // namespace onnxar::os
