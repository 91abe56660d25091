// Names a new file: first no name, then a hidden name if that is needed, finally its own name.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "base/folder.h"
#include "base/output_target.h"
#include "os/file.h"

namespace onnxar::base {

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
