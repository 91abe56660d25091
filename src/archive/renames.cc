// Checks new names of entries, and looks them up by the old names.
#include "archive/renames.h"

#include <optional>

#include "archive/keys.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "zip/names.h"

namespace onnxar {
namespace {

using base::concat;

/// Refuses C identifiers, because readers treat an entry with such a name as the data of a tensor.
void check_new_name(const RenamedEntry& renamed) {
  const Place place{renamed.to, std::nullopt};
  zip::check_name(renamed.to, place);
  check_reserved(renamed.to, place);
  if (!is_key(renamed.to)) return;
  throw Error(Code::usage_argument,
              "an entry cannot be renamed to a C identifier: these names are reserved for tensors; add an extension",
              place);
}

}  // namespace

Renames::Renames(const std::vector<RenamedEntry>& list) {
  for (const RenamedEntry& renamed : list) {
    check_new_name(renamed);
    if (by_old_name_.try_emplace(renamed.from, Rename{renamed.to}).second) continue;
    throw Error(Code::usage_argument, concat("two new names are given to the entry ", base::quoted(renamed.from)));
  }
}

std::string_view Renames::operator()(std::string_view name) {
  const auto found = by_old_name_.find(name);
  if (found == by_old_name_.end()) return name;
  found->second.met = true;
  return found->second.name;
}

void Renames::expect_all_met(std::string_view what) const {
  for (const auto& [old_name, rename] : by_old_name_) {
    if (!rename.met) {
      throw Error(Code::usage_argument,
                  concat("cannot rename ", base::quoted(old_name), ": the input has no ", what, " of this name"), {},
                  {}, {Hint::list_entries});
    }
  }
}

}  // namespace onnxar
