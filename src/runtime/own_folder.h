// Checks which files of stored models are ours and who can change them, and locks the files that a process works on.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/folder.h"
#include "os/file.h"

namespace onnxar {

/// Marks a file as ours. Stored models have it at `stored_page`, all other files at their beginning. Files without it
/// are not read, replaced or removed.
inline constexpr std::string_view own_line = "onnxar stored model 2\n";
inline constexpr std::uint64_t stored_page = 4096;  // bytes: ONNX Runtime maps ranges of entries, so these are aligned

/// Accesses our files in a folder whose names only this user and root can change. Immutable.
class OwnFolder {
 public:
  /// Opens the folder. Throws io.permission if others can write to the folder, or to its parent, unless that is sticky
  /// (/tmp); io.not_a_file, io.*.
  explicit OwnFolder(const std::filesystem::path& folder);
  /// Makes the folder and its missing parents first, with access for this user only. Throws io.*.
  static OwnFolder make(const std::filesystem::path& folder);

  /// Returns the path without links.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] std::filesystem::path path_of(const std::string& name) const;
  /// Opens a file of ours for reading; a link is not followed. Returns an invalid file if nothing has the name. Throws
  /// output.exists if it is not ours; io.permission if others can change it; io.*.
  [[nodiscard]] os::File open(const std::string& name, std::uint64_t line_at = 0) const;
  /// True if the file is ours, and only this user and root can change it.
  [[nodiscard]] bool owns(const std::string& name, std::uint64_t line_at = 0) const;

  /// Returns the text after the line of a small file of ours; empty if there is no trusted file.
  [[nodiscard]] std::string recall(const std::string& name) const;
  /// Writes such a file at once. Ignores failures, because the file only saves work.
  void remember(const std::string& name, std::string_view text) const;
  void remove(const std::string& name) const noexcept { folder_->remove_file(name); }

  [[nodiscard]] const std::shared_ptr<const base::Folder>& folder() const noexcept { return folder_; }

 private:
  std::filesystem::path path_;
  std::shared_ptr<const base::Folder> folder_;
};

/// Locks a file for one process at a time with the file `NAME.lock`, which stays unless `remove` is called. Forked
/// processes do not hold the lock.
class OwnLock {
 public:
  /// Takes the lock. Throws archive.busy if another process has it, output.exists if the file is not ours, and io.*.
  OwnLock(const OwnFolder& folder, const std::string& name);

  /// False in a process that was forked.
  [[nodiscard]] bool is_held() const;
  void remove() const noexcept { folder_.remove(name_); }

 private:
  OwnFolder folder_;
  std::string name_;
  os::File file_;
  std::optional<os::NotForChildren> alone_;
};

}  // namespace onnxar
