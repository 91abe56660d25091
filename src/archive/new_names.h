// The names that a caller gives to entries of a new archive.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/keyed_hash.h"
#include "onnxar/archive_writer.h"
#include "onnxar/error.h"

namespace onnxar {

/// Maps old names of entries to new ones. Refers to the list that the constructor receives, which must outlive it.
class Renames {
 public:
  /// Errors: usage.argument (an old name is given twice, or a new name is a C identifier); zip.name.* and
  /// archive.name.reserved for a new name.
  explicit Renames(const std::vector<RenamedEntry>& list);

  [[nodiscard]] bool empty() const noexcept { return by_old_name_.empty(); }
  /// Returns the new name of the entry `name`, or `name` if it is not renamed.
  std::string_view operator()(std::string_view name);
  /// Refuses old names that were never looked up. `what` ("entry") is the kind of thing for the message. Errors:
  /// usage.argument.
  void expect_all_met(std::string_view what) const;

 private:
  struct Rename {
    std::string_view name;
    bool met = false;
  };
  base::KeyedMap<std::string_view, Rename> by_old_name_;
};

}  // namespace onnxar
