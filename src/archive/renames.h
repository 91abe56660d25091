// Renames entries of a new archive as the caller wants.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/keyed_hash.h"
#include "onnxar/archive_writer.h"

namespace onnxar {

/// Maps old names of entries to new ones.
class Renames {
 public:
  /// Throws usage.argument if an old name occurs twice or a new name is a C identifier, and zip.name.* and
  /// archive.name.reserved for a new name that is not valid.
  explicit Renames(const std::vector<RenamedEntry>& list);

  [[nodiscard]] bool empty() const noexcept { return by_old_name_.empty(); }
  /// Returns the new name of the entry `name`, or `name` if it is not renamed.
  std::string_view operator()(std::string_view name);
  /// Throws usage.argument if an old name was never looked up. The message calls the renamed things `what` ("entry").
  void expect_all_met(std::string_view what) const;

 private:
  struct Rename {
    std::string name;
    bool met = false;
  };
  base::KeyedMap<std::string, Rename> by_old_name_;
};

}  // namespace onnxar
