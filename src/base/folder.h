// A folder that files are written into.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "os/file.h"

namespace onnxar::base {

/// A folder that is told by what it is, not by the path that leads to it: once it was opened, names are looked up in
/// this one, whatever is put in its place meanwhile.
///
/// The folder that a caller names is held open. Those beneath it are opened for each use, from the one above and
/// through no link, and must be what they were: so there may be more of them than a process may have files open.
/// Immutable. Threads: any.
class Folder {
 public:
  /// What the caller named; links on the way are followed. Errors: io.*.
  static std::shared_ptr<const Folder> open(const std::filesystem::path& path);

  /// Whether there was nothing of this name in `parent`, and a folder is there now. Errors: io.*.
  static bool make(const Folder& parent, const std::string& name);
  /// The folder `name` of `parent`. A link is not followed. Errors: io.changed (there is none), io.*.
  static std::shared_ptr<const Folder> open_in(std::shared_ptr<const Folder> parent, const std::string& name);

  /// Makes the folder `name` in `parent`, which `here` is a handle of; `here` is then of the new one. So folders
  /// are made within each other by a few calls each, however deep they are: `open_in` comes from the outermost one.
  /// Null if there was something of this name. Errors: io.changed (the new one was replaced at once), io.*.
  static std::shared_ptr<const Folder> make_in(std::shared_ptr<const Folder> parent, const std::string& name,
                                               os::File& here);
  /// Leads `here` from the parent to this folder. False if something else is in its place: `here` is as it was.
  [[nodiscard]] bool enter(os::File& here) const noexcept;
  /// Leads `here` from this folder to its parent. False if it was moved to another one: `here` is as it was.
  /// REQUIRES: it was opened in a parent.
  [[nodiscard]] bool leave(os::File& here) const noexcept;

  /// Open for looking up names. A call or two, in which the system looks up each folder on the way. Errors: io.changed
  /// (something else is in its place), io.*.
  [[nodiscard]] os::File descriptor() const;
  [[nodiscard]] bool is_empty() const;
  /// Waits until the disk has all names in it.
  void sync() const;
  /// Removes a file, or an empty folder, from this one, if it can.
  void remove_file(const std::string& name) const noexcept;
  void remove_folder(const std::string& name) const noexcept;
  /// The same, in the folder that `here` is a handle of.
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

  std::shared_ptr<const Folder> parent_;  // null of the one that a caller named
  std::filesystem::path name_;            // in the parent; else the path
  os::File held_;                         // valid where there is no parent
  os::FileIdentity identity_;
};

}  // namespace onnxar::base
