// Manages the folder in which ONNX Runtime writes a model.
#pragma once

#include <filesystem>
#include <string>

#include "runtime/own_folder.h"

namespace onnxar {

/// Manages the folder `NAME.part`, in which ONNX Runtime writes a model, and the lock of NAME. Before and after,
/// removes what this library and ONNX Runtime wrote into the folder, and nothing else.
class Workshop {
 public:
  static constexpr const char *model = "model.onnx", *data = "data", *packed = "packed";

  /// Locks NAME and makes the folder. Throws archive.busy, output.exists if something else is at `NAME.part`, and io.*.
  Workshop(const OwnFolder& folder, const std::string& name);
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  ~Workshop();

  /// True if the folder is one that a Workshop made.
  static bool is_own(const std::filesystem::path& folder);
  [[nodiscard]] std::filesystem::path path() const { return folder_.path_of(name_); }
  [[nodiscard]] bool is_held() const { return lock_.is_held(); }
  /// Makes the destructor remove the lock file too.
  void remove_lock() noexcept { removes_lock_ = true; }

 private:
  static void clear(const OwnFolder& inside);

  OwnFolder folder_;
  OwnLock lock_;
  std::string name_;
  bool removes_lock_ = false;
};

}  // namespace onnxar
