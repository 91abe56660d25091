// The names that a caller gives to entries of a new archive.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/keyed_hash.h"
#include "onnxar/archive_writer.h"
#include "onnxar/error.h"

namespace onnxar {

/// New names of entries, looked up by the old ones. Refers to the list from which it is made.
class Renames {
 public:
  /// Errors: usage.argument (an old name is given twice, a new one is a C identifier); for a new name zip.name.*,
  /// archive.name.reserved.
  explicit Renames(const std::vector<RenamedEntry>& list);

  [[nodiscard]] bool empty() const noexcept { return by_old_name_.empty(); }
  /// The new name of the entry `name`, or `name` itself if it has none.
  std::string_view operator()(std::string_view name);
  /// Refuses old names that were never looked up. Errors: usage.argument.
  void expect_all_met(std::string_view what) const;

 private:
  struct Rename {
    std::string_view name;
    bool met = false;
  };
  base::KeyedMap<std::string_view, Rename> by_old_name_;
};

}  // namespace onnxar
