// os/file.h for fuzzers: files, their status and their locks, in memory.
#include "os/file.h"

#include <algorithm>

#include "files.h"

namespace onnxar::os {
namespace {

using memory::error;
using memory::files;
using memory::Opening;

constexpr std::uint64_t device = 0x6d656d;
constexpr std::uint64_t largest_file = std::uint64_t{1} << 30U;

FileStatus status_of_node(const memory::Node& node) noexcept {
  return {node.kind, {device, node.inode}, node.bytes.size(), node.changed, node.changed};
}

FileStatus status_at(const std::string& path, std::error_code& failed) noexcept {
  const std::scoped_lock lock(files().mutex);
  const auto node = files().find(path);
  failed = node ? std::error_code() : error(std::errc::no_such_file_or_directory);
  return node ? status_of_node(*node) : FileStatus();
}

/// Copies `part` to `offset`, which may be beyond the end, and to what is mapped of the file.
void put(memory::Node& node, std::uint64_t offset, std::span<const std::byte> part) {
  if (part.empty()) return;
  if (node.bytes.size() < offset + part.size()) node.bytes.resize(offset + part.size());
  std::ranges::copy(part, node.bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  for (const auto& [begin, mapping] : files().mappings) mapping.follow(node, offset, part);
}

bool excludes(const memory::Node& node, const Opening& opening, Lock wanted) {
  const bool own_exclusive = opening.lock == Lock::exclusive;
  const std::size_t own_shared = opening.lock == Lock::shared ? 1 : 0;
  if (node.exclusive_lock && !own_exclusive) return true;
  return wanted == Lock::exclusive && node.shared_locks > own_shared;
}

}  // namespace

/// Descriptors of the C library are not files of this room.
Handle handle_of(int /*descriptor*/) noexcept { return Handle::none; }

void close(Handle handle) noexcept {
  const std::scoped_lock lock(files().mutex);
  if (!files().at(handle)) return;
  const auto number = static_cast<std::size_t>(handle);
  files().handles[number].reset();
  files().free_handles.push_back(number);
}

File open(const std::filesystem::path& path, Access access, std::error_code& failed) noexcept {
  const std::string name = memory::normal(path);
  const std::scoped_lock lock(files().mutex);
  const auto node = files().find(name);
  const bool write = access == Access::read_and_write;
  failed.clear();
  if (!node) failed = error(std::errc::no_such_file_or_directory);
  if (node && write && node->kind == FileKind::folder) failed = error(std::errc::is_a_directory);
  return failed ? File() : files().opened(node, name, write);
}

File duplicate(Handle file, std::error_code& failed) noexcept {
  const std::scoped_lock lock(files().mutex);
  const auto opening = files().at(file);
  failed = opening ? std::error_code() : error(std::errc::bad_file_descriptor);
  if (failed) return {};
  File other = files().opened(opening->node, opening->path, opening->writable);
  files().handles[static_cast<std::size_t>(other.get())] = opening;
  return other;
}

FileStatus status_of(Handle file, std::error_code& failed) noexcept {
  const std::scoped_lock lock(files().mutex);
  const auto opening = files().at(file);
  failed = opening ? std::error_code() : error(std::errc::bad_file_descriptor);
  return opening ? status_of_node(*opening->node) : FileStatus();
}

FileStatus status_of(const std::filesystem::path& path, std::error_code& failed) noexcept {
  return status_at(memory::normal(path), failed);
}

FileStatus link_status_of(const std::filesystem::path& path, std::error_code& failed) noexcept {
  return status_at(memory::normal(path), failed);
}

std::filesystem::path real_path(const std::filesystem::path& path, std::error_code& failed) {
  const std::string name = memory::normal(path);
  status_at(name, failed);
  return failed ? std::filesystem::path() : std::filesystem::path(name);
}

std::size_t read_at(Handle file, std::span<std::byte> target, std::uint64_t offset, std::error_code& failed) noexcept {
  const std::scoped_lock lock(files().mutex);
  const auto opening = files().at(file);
  failed.clear();
  if (!opening) failed = error(std::errc::bad_file_descriptor);
  if (opening && opening->node->kind == FileKind::folder) failed = error(std::errc::is_a_directory);
  if (failed || offset >= opening->node->bytes.size()) return 0;
  const std::span<const std::byte> rest = std::span(opening->node->bytes).subspan(offset);
  const std::size_t size = std::min(target.size(), rest.size());
  std::ranges::copy(rest.first(size), target.begin());
  return size;
}

std::size_t write_at(Handle file, std::uint64_t offset, std::span<const std::byte> first,
                     std::span<const std::byte> second, std::error_code& failed) noexcept {
  const std::scoped_lock lock(files().mutex);
  const auto opening = files().at(file);
  failed = opening && opening->writable ? std::error_code() : error(std::errc::bad_file_descriptor);
  if (offset + first.size() + second.size() > largest_file) failed = error(std::errc::file_too_large);
  if (failed) return 0;
  put(*opening->node, offset, first);
  put(*opening->node, offset + first.size(), second);
  ++opening->node->changed;
  return first.size() + second.size();
}

std::error_code set_size(Handle file, std::uint64_t size) noexcept {
  const std::scoped_lock lock(files().mutex);
  const auto opening = files().at(file);
  if (!opening || !opening->writable) return error(std::errc::bad_file_descriptor);
  if (size > largest_file) return error(std::errc::file_too_large);
  opening->node->bytes.resize(size);
  ++opening->node->changed;
  return {};
}

std::error_code sync(Handle /*file*/) noexcept { return {}; }
std::error_code hand_over(Handle /*file*/) noexcept { return {}; }

Locking try_lock(Handle file, Lock wanted, std::error_code& failed) noexcept {
  const std::scoped_lock lock(files().mutex);
  const auto opening = files().at(file);
  failed = opening ? std::error_code() : error(std::errc::bad_file_descriptor);
  if (failed) return Locking::failed;
  if (excludes(*opening->node, *opening, wanted)) {
    failed = error(std::errc::operation_would_block);
    return Locking::busy;
  }
  opening->unlock();
  opening->lock = wanted;
  if (wanted == Lock::shared) ++opening->node->shared_locks;
  if (wanted == Lock::exclusive) opening->node->exclusive_lock = true;
  return Locking::done;
}

/// There is no other process to wait for.
NotForChildren::NotForChildren(Handle file) noexcept : file_(file) {}
NotForChildren::~NotForChildren() = default;

}  // namespace onnxar::os
