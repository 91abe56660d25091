// Files of stored models: which of them are ours, who can change them, and which process works on one.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/folder.h"
#include "os/file.h"

namespace onnxar {

/// Marks a file as ours: stored models have it at `stored_page`, all others at their beginning. Other files are neither
/// read nor replaced nor removed.
inline constexpr std::string_view own_line = "onnxar stored model 2\n";
inline constexpr std::uint64_t stored_page = 4096;  // bytes: ONNX Runtime maps ranges of entries, so these are aligned

/// A folder whose names only this user and root can change, and the files of ours in it. Immutable.
class OwnFolder {
 public:
  /// Throws io.permission if others can write to the folder, or to the one that it is in, unless that is sticky (/tmp);
  /// io.not_a_file, io.*.
  explicit OwnFolder(const std::filesystem::path& folder);
  /// Makes the folder first, and those that it is in, where they are missing: for this user alone. Throws io.*.
  static OwnFolder make(const std::filesystem::path& folder);

  /// The path without links.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] std::filesystem::path path_of(const std::string& name) const;
  /// Opens a file of ours for reading; a link is not followed. Returns an invalid file if nothing has the name. Throws
  /// output.exists if it is not ours; io.permission if others can change it; io.*.
  [[nodiscard]] os::File open(const std::string& name, std::uint64_t line_at = 0) const;
  /// True if the file is ours, and only this user and root can change it.
  [[nodiscard]] bool owns(const std::string& name, std::uint64_t line_at = 0) const;

  /// Returns the text after the line of a small file of ours; empty if there is none that can be trusted.
  [[nodiscard]] std::string recall(const std::string& name) const;
  /// Writes such a file at once. Does nothing where it cannot: what it has only saves work.
  void remember(const std::string& name, std::string_view text) const;
  void remove(const std::string& name) const noexcept { folder_->remove_file(name); }

  [[nodiscard]] const std::shared_ptr<const base::Folder>& folder() const noexcept { return folder_; }

 private:
  std::filesystem::path path_;
  std::shared_ptr<const base::Folder> folder_;
};

/// The lock of a file, for one process at a time: the file `NAME.lock`, which stays unless `remove` is called.
/// Processes that are forked do not have it.
class OwnLock {
 public:
  /// Throws archive.busy if another process has it; output.exists if the file is not ours; io.*.
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

/// The folder `NAME.part`, in which ONNX Runtime writes a model, and the lock of NAME. Whatever these two wrote is
/// removed from it before and after, and nothing else.
class Workshop {
 public:
  static constexpr const char *model = "model.onnx", *data = "data", *packed = "packed";

  /// Throws archive.busy; output.exists if something else is at `NAME.part`; io.*.
  Workshop(const OwnFolder& folder, const std::string& name);
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  ~Workshop();

  /// True if the folder is one that a Workshop made.
  static bool is_own(const std::filesystem::path& folder);
  [[nodiscard]] std::filesystem::path path() const { return folder_.path_of(name_); }
  [[nodiscard]] bool is_held() const { return lock_.is_held(); }
  /// Has the destructor remove the file of the lock, too.
  void remove_lock() noexcept { removes_lock_ = true; }

 private:
  static void clear(const OwnFolder& inside);

  OwnFolder folder_;
  OwnLock lock_;
  std::string name_;
  bool removes_lock_ = false;
};

}  // namespace onnxar
