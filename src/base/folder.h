// Holds folders that files are written into.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "onnxar/error.h"
#include "os/file.h"
#include "os/folder.h"

namespace onnxar::base {

/// Holds a handle of a folder, either borrowed from a Folder that keeps it open, or opened and owned.
class FolderHandle {
 public:
  explicit FolderHandle(os::Handle held) noexcept : handle_(held) {}
  explicit FolderHandle(os::File opened) noexcept : opened_(std::move(opened)), handle_(opened_) {}

  // NOLINTNEXTLINE(google-explicit-constructor): functions that take a handle take this, too
  operator os::Handle() const noexcept { return handle_; }

 private:
  os::File opened_;
  os::Handle handle_;
};

/// Names the operation that failed, for `system_error`.
inline constexpr std::string_view cannot_write_into = "cannot write into the folder";

/// Represents a folder, identified by device and inode instead of its path. Once it is open, names are looked up in
/// this folder, even if a different folder takes over its path.
///
/// The folder that a caller names is held open. Folders beneath it are opened for each use, from the held one and
/// without following links, and their identity is checked. The limit of open files per process therefore does not limit
/// their number. Immutable. Threads: any.
class Folder {
 public:
  /// Opens the folder that a caller named; links in the path are followed. Throws io.*.
  static std::shared_ptr<const Folder> open(const std::filesystem::path& path);

  /// Makes the folder `name` in `parent`, with access for `users`. Returns false if the name already exists. Throws
  /// io.*.
  static bool make(const Folder& parent, const std::filesystem::path& name, os::Users users = os::Users::all);
  /// Opens the folder `name` of `parent`. Does not follow a link. Throws io.changed if the folder does not exist, and
  /// io.*.
  static std::shared_ptr<const Folder> open_in(std::shared_ptr<const Folder> parent, const std::string& name);

  /// Makes the folder `name` in `parent`, which `here` is a handle of, and moves `here` to the new folder. Costs a few
  /// calls at any depth, whereas `open_in` walks down from the outermost folder. Returns null if the name already
  /// exists. Throws io.changed if the new folder was replaced at once, and io.*.
  static std::shared_ptr<const Folder> make_in(std::shared_ptr<const Folder> parent, const std::string& name,
                                               os::File& here);
  /// Moves `here` from the parent to this folder. Returns false, without effect, if something else has its name.
  [[nodiscard]] bool enter(os::File& here) const noexcept;
  /// Moves `here` from this folder to its parent. Returns false, without effect, if this folder was moved to a
  /// different parent. REQUIRES: it was opened in a parent.
  [[nodiscard]] bool leave(os::File& here) const noexcept;

  /// Returns a handle for looking up names, for one operation. Throws io.changed if something else has the folder's
  /// name, and io.*. Cost: none for the folder that a caller named, so that a process without free descriptors can
  /// clean it up; otherwise two calls, in which the system walks down from there.
  [[nodiscard]] FolderHandle handle() const;
  /// Does what `handle` does, but always opens the folder and returns the owned handle.
  [[nodiscard]] os::File reopen() const;
  [[nodiscard]] bool is_empty() const;
  /// Opens the file `name`, which an earlier process may have left, for reading and writing. If nothing has the name,
  /// makes it with access for this user only. Throws io.not_a_file if a link, a pipe or a folder has the name;
  /// io.permission if written bytes could go elsewhere or others could change them (os::ownership_of); and io.*.
  [[nodiscard]] os::File open_own(const std::string& name) const;
  /// Waits until the disk has all names in the folder.
  void sync() const;
  /// Does what `sync` does, after a file in the folder replaced another one. The error message says that the new file
  /// stays.
  void sync_replaced() const;
  /// Removes a file or an empty folder. Ignores failures, because it is used for cleaning up.
  void remove_file(const std::string& name) const noexcept;
  void remove_folder(const std::string& name) const noexcept;
  /// Removes an empty folder from the folder that `here` is a handle of.
  static void remove_folder_at(os::Handle here, const std::string& name) noexcept;
  /// Returns the path that was opened, for messages.
  [[nodiscard]] std::filesystem::path path() const;

 private:
  Folder(std::shared_ptr<const Folder> parent, std::filesystem::path name)
      : parent_(std::move(parent)), name_(std::move(name)) {}

  [[nodiscard]] os::File open_from_root(std::error_code& failed) const;
  [[nodiscard]] Error not_opened(const std::error_code& failed) const;
  [[nodiscard]] os::FileIdentity identity_in(os::Handle opened) const;
  [[nodiscard]] bool is(os::Handle file) const noexcept;
  template <typename Remove>
  void remove(const Remove& remove, const std::string& name) const noexcept;

  std::shared_ptr<const Folder> parent_;  // null if a caller named the folder
  std::filesystem::path name_;            // in the parent; without a parent, the path
  os::File held_;                         // valid for a folder that a caller named
  os::FileIdentity identity_;
};

}  // namespace onnxar::base
