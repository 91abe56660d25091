// Names that entries get when an archive is made of something else.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/keyed_hash.h"
#include "onnxar/archive_writer.h"
#include "onnxar/error.h"

namespace onnxar {

/// The names that a caller gives to entries, looked up by the old ones. Refers to the list that it is made of.
class Renames {
 public:
  /// Errors: usage.argument (an old name is given twice, a new one is a C identifier), zip.name.*,
  /// archive.name.reserved (of a new name).
  explicit Renames(const std::vector<RenamedEntry>& list);

  [[nodiscard]] bool empty() const noexcept { return by_old_name_.empty(); }
  /// The new name of the entry `name`; its own where it keeps that.
  std::string_view operator()(std::string_view name);
  /// Refuses names that no entry has had. Errors: usage.argument.
  void expect_all_met(std::string_view what) const;

 private:
  struct Rename {
    std::string_view name;
    bool met = false;
  };
  base::KeyedMap<std::string_view, Rename> by_old_name_;
};

/// Refuses a name that an archive's own entries have: reserved ones and the model's. Errors: archive.name.reserved.
void check_reserved(std::string_view name, const Place& place);

}  // namespace onnxar
