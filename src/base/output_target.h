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

/// The place that a path leads to: a name in an open folder.
struct OutputTarget {
  std::filesystem::path path;
  std::shared_ptr<const Folder> folder;
  std::string name;
};

/// Follows symbolic links in user space, since the last one may lead to a file that does not exist yet. A link that the
/// kernel would not follow is refused (os::may_follow_link). Errors: io.not_found (no such folder), io.permission,
/// io.failed.
OutputTarget follow_links(std::filesystem::path path);

/// Makes all checks of an output that do not open anything for writing. Errors: as `follow_links` and
/// `expect_writable`; io.not_a_file (the path ends in `/`).
OutputTarget find_target(const std::filesystem::path& path, Existing existing);

/// Refuses a target that may not be written. Errors: output.exists (with Existing::refuse), io.not_a_file (a folder or
/// device has the name), io.*.
void expect_writable(const OutputTarget& target, Existing existing);
/// As above, for a path and without opening its folder. A link at its end is not followed.
void expect_writable(const std::filesystem::path& path, Existing existing);

/// Makes the error output.exists.
Error already_exists(const std::filesystem::path& target);

// Names a new file: first no name, then a hidden name where that is needed, finally its own.

/// The name of a new file in its folder. The destructor removes a hidden name, `.NAME.XXXXXX.tmp`. A nameless file
/// vanishes when it is closed, even if the process is killed. Move-only. Not synchronised.
class OutputName {
 public:
  explicit OutputName(OutputTarget target) noexcept : target_(std::move(target)) {}
  OutputName(OutputName&& other) noexcept;
  OutputName& operator=(OutputName&& other) noexcept;
  OutputName(const OutputName&) = delete;
  OutputName& operator=(const OutputName&) = delete;
  ~OutputName() { vanish(); }

  /// Creates the file: nameless where the system can (O_TMPFILE), otherwise under a hidden name. Errors: io.permission,
  /// io.*.
  os::File create();
  /// Makes a symbolic link to `target`, under a hidden name. Errors: io.*.
  void create_link(const std::filesystem::path& target);
  /// Gives `file`, which `create` returned, a hidden name unless it has one.
  void hide(os::Handle file);
  /// Removes the hidden name, if the file has one. An open file stays open.
  void vanish() noexcept;
  /// Gives `file` the permissions of the target, if that exists. Errors: io.changed (the folder was moved),
  /// io.*.
  void keep_mode(os::Handle file) const;
  /// Gives `file` its final name. To replace a target, the file must be hidden: a new link never replaces a file, a
  /// rename does. A hidden file may be closed already (Handle::none). Errors: output.exists, io.*.
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
