// A folder that files are written into.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "onnxar/error.h"
#include "os/file.h"

namespace onnxar::base {

/// A handle of a folder: borrowed from a Folder that holds it, or opened and owned.
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

/// A folder, identified by device and inode instead of its path. Once it is open, names are looked up in this folder,
/// even if a different folder takes over its path.
///
/// The folder that a caller names is held open. Folders beneath it are opened for each use, from the held one and
/// without following links, and their identity is checked. Their number is therefore not limited by the number of files
/// that a process may have open. Immutable. Threads: any.
class Folder {
 public:
  /// Opens the folder that a caller named; links in the path are followed. Errors: io.*.
  static std::shared_ptr<const Folder> open(const std::filesystem::path& path);

  /// Makes the folder `name` in `parent`. False if something has this name already. Errors: io.*.
  static bool make(const Folder& parent, const std::string& name);
  /// Opens the folder `name` of `parent`. A link is not followed. Errors: io.changed (it does not exist), io.*.
  static std::shared_ptr<const Folder> open_in(std::shared_ptr<const Folder> parent, const std::string& name);

  /// Makes the folder `name` in `parent`, which `here` is a handle of; afterwards `here` is a handle of the new folder.
  /// Nested folders cost a few calls each at any depth, whereas `open_in` walks down from the outermost folder.
  /// Null if something has this name already. Errors: io.changed (the new one was replaced at once), io.*.
  static std::shared_ptr<const Folder> make_in(std::shared_ptr<const Folder> parent, const std::string& name,
                                               os::File& here);
  /// Moves `here` from the parent to this folder. False, without effect, if something else has its name.
  [[nodiscard]] bool enter(os::File& here) const noexcept;
  /// Moves `here` from this folder to its parent. False, without effect, if this folder was moved to a different
  /// parent. REQUIRES: it was opened in a parent.
  [[nodiscard]] bool leave(os::File& here) const noexcept;

  /// A handle for looking up names, for one operation. Cost: nothing for the folder that a caller named, so that it can
  /// be cleaned up by a process that may open no more files; else two calls, in which the system walks down from there.
  /// Errors: io.changed (something else has its name), io.*.
  [[nodiscard]] FolderHandle handle() const;
  /// As `handle`, as a file of its own.
  [[nodiscard]] os::File reopen() const;
  [[nodiscard]] bool is_empty() const;
  /// Opens the file `name`, which an earlier process may have left, for reading and writing. Makes it for this user
  /// alone if nothing has the name. Throws io.not_a_file (a link, a pipe or a folder has the name) and io.permission
  /// (os::ownership_of: bytes that are written could go elsewhere, or others could change them); io.*.
  [[nodiscard]] os::File open_own(const std::string& name) const;
  /// Waits until the disk has all names in the folder.
  void sync() const;
  /// As `sync`, after a file in the folder replaced another one. The message of an error says that it stays.
  void sync_replaced() const;
  /// Removes a file, or an empty folder. A failure is ignored: these calls clean up.
  void remove_file(const std::string& name) const noexcept;
  void remove_folder(const std::string& name) const noexcept;
  /// Removes an empty folder from the folder that `here` is a handle of.
  static void remove_folder_at(os::Handle here, const std::string& name) noexcept;
  /// The path that was opened, for messages.
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

// Opens files that must lie in a folder.

/// Opens `relative` for reading by a path that does not leave `folder` at any step: not by `..`, an absolute path or a
/// symbolic link, even if another process moves folders meanwhile (os::open_beneath).
///
/// A link is followed if its target stays in the folder. A link that leaves it is followed only if the real path of its
/// target lies in `second_folder`: caches keep a model and its data as links into one folder of blobs. Both folders are
/// real paths. Sets `failed` if the file cannot be opened, with the reason `outside` if the path leaves the folders.
os::File open_beneath(const std::filesystem::path& folder, const std::filesystem::path& second_folder,
                      const std::filesystem::path& relative, std::error_code& failed);

}  // namespace onnxar::base
