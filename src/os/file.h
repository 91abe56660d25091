// Open files: opening, status, reading, writing, room on the disk, locks.
//
// Conventions of this room: a function that can fail either returns a std::error_code or sets its last argument, which
// it clears on success. Nothing throws, except std::bad_alloc while a path is built. Names and paths are
// std::filesystem::path. Interrupted calls are repeated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

namespace onnxar::os {

/// The system's own handle of an open file or folder: a descriptor on POSIX, a HANDLE on Windows. `none` is invalid on
/// every system.
enum class Handle : std::intptr_t { none = -1 };

/// Wraps a native handle without taking ownership. POSIX defines the first function: a negative descriptor becomes
/// `none`. Windows defines the second: a null HANDLE becomes `none`.
Handle handle_of(int descriptor) noexcept;
Handle handle_of(void* native) noexcept;

void close(Handle handle) noexcept;

/// Owns a handle and closes it. Converts implicitly to the handle. Move-only.
class File {
 public:
  File() = default;
  explicit File(Handle handle) noexcept : handle_(handle) {}
  File(File&& other) noexcept : handle_(std::exchange(other.handle_, Handle::none)) {}
  File& operator=(File&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (valid()) close(handle_);
  }

  [[nodiscard]] Handle get() const noexcept { return handle_; }
  // NOLINTNEXTLINE(google-explicit-constructor): functions that take a handle take its owner, too
  operator Handle() const noexcept { return handle_; }
  [[nodiscard]] bool valid() const noexcept { return handle_ != Handle::none; }

 private:
  Handle handle_ = Handle::none;
};

enum class Access : std::uint8_t { read, read_and_write };

/// Opens an existing file. Never waits for the other end of a pipe. A folder can be opened for reading; `status_of`
/// distinguishes it from a file.
File open(const std::filesystem::path& path, Access access, std::error_code& failed) noexcept;

/// Returns a second handle of the same opening. Both share its locks.
File duplicate(Handle file, std::error_code& failed) noexcept;

enum class FileKind : std::uint8_t { regular, folder, link, other };

/// Identifies a file independently of its names.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

/// Two equal statuses mean that the file was not replaced and, within the resolution of the clock, not written to.
struct FileStatus {
  FileKind kind = FileKind::other;
  FileIdentity identity;
  std::uint64_t size = 0;     ///< bytes
  std::int64_t modified = 0;  ///< nanoseconds, in steps of some milliseconds
  std::int64_t changed = 0;   ///< the same clock; also counts changes of mode, owner and name
  bool operator==(const FileStatus&) const = default;
};

FileStatus status_of(Handle file, std::error_code& failed) noexcept;
/// Returns the status of the file at a path. Follows links.
FileStatus status_of(const std::filesystem::path& path, std::error_code& failed) noexcept;
/// Returns the status without following a link at the end of the path.
FileStatus link_status_of(const std::filesystem::path& path, std::error_code& failed) noexcept;
/// Returns the absolute path without links, `.` and `..`. It must exist.
std::filesystem::path real_path(const std::filesystem::path& path, std::error_code& failed);

/// Reads from `offset` on without moving the file's position. Returns the number of bytes read. It may be less than
/// requested at any time; it is 0 only at the end of the file or after a failure.
std::size_t read_at(Handle file, std::span<std::byte> target, std::uint64_t offset, std::error_code& failed) noexcept;

/// Fills all of `target`. Returns the number of bytes read, which is less only at the end of the file or after a
/// failure.
std::size_t read_fully_at(Handle file, std::span<std::byte> target, std::uint64_t offset,
                          std::error_code& failed) noexcept;

/// Writes `first` followed by `second` in one call. Returns the number of bytes written, which may be less.
std::size_t write_at(Handle file, std::uint64_t offset, std::span<const std::byte> first,
                     std::span<const std::byte> second, std::error_code& failed) noexcept;

/// Cuts the file, or extends it by zeros. Safe in signal handlers.
std::error_code set_size(Handle file, std::uint64_t size) noexcept;

/// Makes parts that are not written take no space on the disk, if the file system does not do so by default. Advice:
/// never fails.
void allow_holes(Handle file) noexcept;

enum class FileSize : std::uint8_t { grows, stays };

/// Reserves blocks on the disk for this part of the file.
std::error_code set_aside(Handle file, std::uint64_t offset, std::uint64_t length, FileSize size) noexcept;
/// True if files on the file system of `file` can share blocks.
bool can_share_blocks(Handle file) noexcept;
/// Makes a part of `file` share the blocks of a part of `source` until either is written to. Reason::outside if the
/// files are on different volumes.
std::error_code share_blocks(Handle file, std::uint64_t offset, Handle source, std::uint64_t source_offset,
                             std::uint64_t length) noexcept;
/// Asks the system to begin writing this part to the disk, and returns at once. Advice: never fails.
void start_writeback(Handle file, std::uint64_t offset, std::uint64_t length) noexcept;

/// Waits until the disk has the file's data and size.
std::error_code sync(Handle file) noexcept;

/// Reports writes that failed after they had returned, as on network file systems and with quotas, which learn of a
/// full disk late. Waits for the server, not for a disk; costs nothing on local file systems.
std::error_code hand_over(Handle file) noexcept;

enum class Lock : std::uint8_t { shared, exclusive };

/// `busy`: a different opening holds a lock that excludes this one. `failed`: for example, the file system has no
/// locks.
enum class Locking : std::uint8_t { done, busy, failed };

/// Takes the file's lock without waiting. The lock excludes other openings, including those of this process; it does
/// not keep readers without a lock out. It is released when the last handle of this opening is closed.
Locking try_lock(Handle file, Lock lock, std::error_code& failed) noexcept;

/// Keeps the file, and so its lock, out of processes that this one forks from now on; they would otherwise hold the
/// lock until they exit. In these processes, the handle refers to an empty device. Works for up to 64 files at a time;
/// further files are shared as before. REQUIRES: the file is closed after this object is destroyed.
class NotForChildren {
 public:
  explicit NotForChildren(Handle file) noexcept;
  NotForChildren(const NotForChildren&) = delete;
  NotForChildren& operator=(const NotForChildren&) = delete;
  ~NotForChildren();

 private:
  [[maybe_unused]] std::size_t place_ = 0;
  [[maybe_unused]] Handle file_;
};

inline Locking try_lock(Handle file, Lock lock) noexcept {
  std::error_code ignored;
  return try_lock(file, lock, ignored);
}

}  // namespace onnxar::os
