// An open file descriptor: opening, locking, and what the system says when a call fails.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "onnxar/error.h"

namespace onnxar::base {

/// Owns a descriptor and closes it.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) noexcept : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor();

  /// Another descriptor of the same opening, with the same locks. Errors: io.failed.
  [[nodiscard]] FileDescriptor duplicate() const;
  [[nodiscard]] int get() const noexcept { return number_; }
  /// Gives the descriptor to the caller, who closes it.
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }
  [[nodiscard]] bool valid() const noexcept { return number_ >= 0; }

 private:
  int number_ = -1;
};

enum class Access : std::uint8_t { read, read_and_write };

/// Opens an existing file. Errors: io.not_found, io.permission, io.not_a_file (a folder that is to be written),
/// io.failed.
FileDescriptor open_file(const std::filesystem::path& path, Access access);

/// What tells one file from another, whatever names lead to it.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

/// A part of a file; without a length it goes to the end.
struct FilePart {
  std::uint64_t offset = 0;  ///< bytes
  std::optional<std::uint64_t> length = {};
};

/// What changes when somebody writes to a file, cuts it, or puts another one in its place.
struct FileState {
  FileIdentity identity;
  std::uint64_t size = 0;
  std::int64_t modified = 0;  ///< nanoseconds, in steps of some milliseconds
  std::int64_t changed = 0;
  bool operator==(const FileState&) const = default;
};

/// A regular file, and how long the part of it is that was asked for.
struct ExaminedFile {
  FileState state;
  std::uint64_t length = 0;
};

/// Proves that the descriptor, which stays the caller's, is open on a regular file that has this part. `path` is for
/// messages. Errors: io.not_a_file (a folder, a pipe), usage.argument (the part leaves the file), io.failed.
ExaminedFile examine(int descriptor, const FilePart& part, const std::filesystem::path& path);

/// Of the file that the path leads to; nothing where it leads to none.
std::optional<FileIdentity> identity_of(const std::filesystem::path& path) noexcept;
std::optional<FileIdentity> identity_of(const FileDescriptor& file) noexcept;
/// The same with what else tells that it is as it was.
std::optional<FileState> state_of(const std::filesystem::path& path) noexcept;

/// The path without links, `.` and `..`. Errors: io.*, as of opening it.
std::filesystem::path real_path(const std::filesystem::path& path);

enum class Lock : std::uint8_t { shared, exclusive };

/// `busy`: somebody else holds a lock that excludes it. `failed`: errno says why, such as a file system without locks.
enum class Locking : std::uint8_t { done, busy, failed };

/// Takes the file's advisory lock (flock) without waiting. It is given back when the last descriptor of this opening is
/// closed.
Locking try_lock(const FileDescriptor& file, Lock lock) noexcept;

/// The error for a failed system call: `errno_value` decides the code, `doing` says what was tried ("cannot open").
Error system_error(int errno_value, std::string_view doing, const std::filesystem::path& path);

}  // namespace onnxar::base
