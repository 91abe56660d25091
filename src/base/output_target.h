// Finds the place of an output and checks that it may be written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/folder.h"
#include "onnxar/error.h"
#include "os/file.h"

namespace onnxar::base {

enum class Existing : std::uint8_t { refuse, replace };

/// Holds the place that a path leads to: a name in an open folder.
struct OutputTarget {
  std::filesystem::path path;
  std::shared_ptr<const Folder> folder;
  std::string name;
};

/// Follows symbolic links in user space, because the last one may lead to a file that does not exist yet. Refuses a
/// link that the kernel would not follow (os::may_follow_link). Throws io.not_found if there is no such folder,
/// io.permission and io.failed.
OutputTarget follow_links(std::filesystem::path path);

/// Makes all checks of an output that do not open anything for writing. Throws what `follow_links` and
/// `expect_writable` throw, and io.not_a_file if the path ends in `/`.
OutputTarget find_target(const std::filesystem::path& path, Existing existing);

/// Refuses a target that may not be written. Throws output.exists with Existing::refuse, io.not_a_file if a folder or
/// device has the name, and io.*.
void expect_writable(const OutputTarget& target, Existing existing);
/// Does the same for a path, without opening its folder. Does not follow a link at its end.
void expect_writable(const std::filesystem::path& path, Existing existing);

/// Returns the error output.exists.
Error already_exists(const std::filesystem::path& target);

// Names a new file: first no name, then a hidden name if that is needed, finally its own name.

/// Manages the name of a new file in its folder. The destructor removes a hidden name, `.NAME.XXXXXX.tmp`. A nameless
/// file vanishes when it is closed, even if the process is killed. Move-only. Not synchronised.
class OutputName {
 public:
  explicit OutputName(OutputTarget target) noexcept : target_(std::move(target)) {}
  OutputName(OutputName&& other) noexcept;
  OutputName& operator=(OutputName&& other) noexcept;
  OutputName(const OutputName&) = delete;
  OutputName& operator=(const OutputName&) = delete;
  ~OutputName() { vanish(); }

  /// Creates the file: nameless if the system can (O_TMPFILE), otherwise under a hidden name. Throws io.permission and
  /// io.*.
  os::File create();
  /// Makes a symbolic link to `target`, under a hidden name. Throws io.*.
  void create_link(const std::filesystem::path& target);
  /// Gives `file`, which `create` returned, a hidden name unless it has one.
  void hide(os::Handle file);
  /// Removes the hidden name, if the file has one. An open file stays open.
  void vanish() noexcept;
  /// Gives `file` the permissions of the target, if the target exists. Throws io.changed if the folder was moved, and
  /// io.*.
  void keep_mode(os::Handle file) const;
  /// Gives `file` its final name. To replace a target, the file must be hidden: a new link never replaces a file, a
  /// rename does. A hidden file may be closed already (Handle::none). Throws output.exists and io.*.
  void publish(os::Handle file, Existing existing);
  /// Removes the published file.
  void withdraw() const noexcept { target_.folder->remove_file(target_.name); }

  [[nodiscard]] const std::shared_ptr<const Folder>& folder() const noexcept { return target_.folder; }

 private:
  os::File create_hidden();
  template <typename Create>
  void hide_with(const Create& create);
  void link_to(os::Handle file, const std::string& name) const;

  OutputTarget target_;
  std::string hidden_;  // empty while the file has no hidden name
};

}  // namespace onnxar::base
