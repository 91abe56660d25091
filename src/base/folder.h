// A folder that files are written into.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "os/file.h"

namespace onnxar::base {

/// A folder that is identified by what it is, not by its path. Once it is open, names are looked up in this folder,
/// even if another one is put in its place.
///
/// The folder that a caller names is held open. Folders beneath it are opened for each use, from that one and without
/// following links, and are checked to be the ones they were. So their number is not limited by the number of files
/// that a process may have open. Immutable. Threads: any.
class Folder {
 public:
  /// Opens the folder that a caller named; links on the way are followed. Errors: io.*.
  static std::shared_ptr<const Folder> open(const std::filesystem::path& path);

  /// Makes the folder `name` in `parent`. False if something has this name already. Errors: io.*.
  static bool make(const Folder& parent, const std::string& name);
  /// Opens the folder `name` of `parent`. A link is not followed. Errors: io.changed (there is none), io.*.
  static std::shared_ptr<const Folder> open_in(std::shared_ptr<const Folder> parent, const std::string& name);

  /// Makes the folder `name` in `parent`, which `here` is a handle of; afterwards `here` is a handle of the new folder.
  /// This makes nested folders at a few calls each, at any depth; `open_in` would walk down from the outermost one.
  /// Null if something has this name already. Errors: io.changed (the new one was replaced at once), io.*.
  static std::shared_ptr<const Folder> make_in(std::shared_ptr<const Folder> parent, const std::string& name,
                                               os::File& here);
  /// Moves `here` from the parent to this folder. False, without effect, if something else is in its place.
  [[nodiscard]] bool enter(os::File& here) const noexcept;
  /// Moves `here` from this folder to its parent. False, without effect, if this folder was moved to another parent.
  /// REQUIRES: it was opened in a parent.
  [[nodiscard]] bool leave(os::File& here) const noexcept;

  /// Opens the folder for looking up names. Cost: one or two calls, in which the system walks down from the folder that
  /// is held. Errors: io.changed (something else is in its place), io.*.
  [[nodiscard]] os::File descriptor() const;
  [[nodiscard]] bool is_empty() const;
  /// Waits until the disk has all names in it.
  void sync() const;
  /// Remove a file, or an empty folder, if that is possible.
  void remove_file(const std::string& name) const noexcept;
  void remove_folder(const std::string& name) const noexcept;
  /// Removes it from the folder that `here` is a handle of.
  static void remove_folder_at(os::Handle here, const std::string& name) noexcept;
  /// For messages: the path by which it was opened.
  [[nodiscard]] std::filesystem::path path() const;

 private:
  Folder(std::shared_ptr<const Folder> parent, std::filesystem::path name)
      : parent_(std::move(parent)), name_(std::move(name)) {}

  [[nodiscard]] os::File open_from_root() const;
  [[nodiscard]] bool is(os::Handle file) const noexcept;
  template <typename Remove>
  void remove(const Remove& remove, const std::string& name) const noexcept;

  std::shared_ptr<const Folder> parent_;  // null if a caller named the folder
  std::filesystem::path name_;            // in the parent; the path if there is none
  os::File held_;                         // valid if there is no parent
  os::FileIdentity identity_;
};

}  // namespace onnxar::base
