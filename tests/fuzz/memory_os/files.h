// The files of a fuzz target, in memory. This folder implements the room os/ without the operating system: fuzzers link
// it instead of src/os/posix, so that no input causes a system call, and nothing is left on a disk.
//
// A path is compared as text, after `.` and `..` are removed. There are no links, permissions or pipes: the target
// external_data, whose subject these are, links src/os/posix.
//
// A mapping is a copy on the heap, of exactly the requested bytes. AddressSanitizer then finds reads beyond the end of
// a file, which the rest of its last page would hide. Writes to the file go to its mappings, too. Those that make the
// file shorter do not: the library promises that an edit does not take mapped bytes away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "os/file.h"

namespace onnxar::os::memory {

struct Node {
  FileKind kind = FileKind::regular;
  std::uint64_t inode = 0;
  std::int64_t changed = 0;  // counts writes
  std::vector<std::byte> bytes = {};
  std::size_t shared_locks = 0;
  bool exclusive_lock = false;
};

/// What handles refer to. Duplicated handles share it, and with it the lock.
struct Opening {
  std::shared_ptr<Node> node;
  std::string path;  // of a folder: names in it are looked up beneath this path
  bool writable = false;
  std::optional<Lock> lock = {};

  Opening(std::shared_ptr<Node> opened, std::string at, bool write)
      : node(std::move(opened)), path(std::move(at)), writable(write) {}
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;
  ~Opening() { unlock(); }

  void unlock() noexcept;
};

/// Bytes of a file that are mapped, from `offset` on.
struct Mapping {
  std::shared_ptr<const Node> node;
  std::uint64_t offset = 0;
  std::span<std::byte> copy = {};

  /// Takes over what was written to `file` at `at`.
  void follow(const Node& file, std::uint64_t at, std::span<const std::byte> written) const;
};

/// All files and handles of the process. Functions of the room hold `mutex` while they use it.
struct Files {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Node>, std::less<>> names;
  std::vector<std::shared_ptr<Opening>> handles;
  std::vector<std::size_t> free_handles;
  std::map<const std::byte*, Mapping> mappings;  // by their first byte
  std::uint64_t next_inode = 1;
  std::set<std::string, std::less<>> roots;  // folders that stay

  [[nodiscard]] std::shared_ptr<Node> make(FileKind kind);
  void make_root(const std::filesystem::path& path);
  /// The file or folder at the path; null if there is none.
  [[nodiscard]] std::shared_ptr<Node> find(const std::string& path) const;
  /// Null for a handle that is not open.
  [[nodiscard]] std::shared_ptr<Opening> at(Handle handle) const;
  File opened(const std::shared_ptr<Node>& node, const std::string& path, bool writable);
};

/// At first there is one folder: the system's folder for temporary files.
Files& files();

/// The text by which a path is found.
std::string normal(const std::filesystem::path& path);
/// The same for a path beneath an open folder. Nothing if it is absolute or leads out of the folder.
std::optional<std::string> beneath(const Opening& folder, const std::filesystem::path& relative);

std::error_code error(std::errc reason) noexcept;

/// Makes a folder that stays.
void make_root(const std::filesystem::path& path);
/// Removes everything except these folders. Ends the process if a file is still open: the input leaked a handle.
void forget_files();

}  // namespace onnxar::os::memory
