// Makes keys for tensors. Each key differs from all names in use.
#include <string>
#include <string_view>
#include <system_error>

#include "archive/graphs.h"
#include "archive/keys.h"
#include "base/keyed_hash.h"
#include "base/text.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "os/file.h"
#include "os/names.h"

namespace onnxar {

struct KeyMaker::Parts {
  base::KeyedSet<std::string> taken;  // folded names
  // The last number tried for each folded stem, so that equal names cost O(1) each.
  base::KeyedMap<std::string, std::size_t> counters;
};

KeyMaker::KeyMaker() : parts_(detail::own<Parts>()) {
  reserve(model_entry_name);  // `__model_proto` is not a reserved name, but clashes with the model's (N11)
}

KeyMaker::KeyMaker(const Archive& archive) : KeyMaker() {
  for (const ArchiveEntry& entry : archive.entries()) reserve(entry.name);
  if (const auto own = name_of_model(archive)) reserve(*own);
  // In a link, an entry with the name of the archive's file could be taken for the file (K8).
  reserve(os::text_of(archive.path().filename()));
  std::error_code failed;  // the archive may not be a file of this machine
  reserve(os::text_of(os::real_path(archive.path(), failed).filename()));
}

void KeyMaker::reserve(std::string_view name) {
  parts_->taken.insert(base::folded_copy(name.substr(0, name.find('/'))));    // N12: keys have no slash
  parts_->taken.insert(base::folded_copy(name.substr(name.rfind('/') + 1)));  // G6: a graph may be in this folder
}

std::string KeyMaker::make(std::string_view tensor_name) {
  std::string stem = key_stem(tensor_name);
  const auto [place, is_free] = parts_->taken.insert(base::folded_copy(stem));
  if (is_free) return stem;
  const std::string& folded = *place;  // stays where it is when the set grows
  std::size_t& counter = parts_->counters.try_emplace(folded, 1).first->second;
  while (true) {
    const std::string suffix = base::concat("_", ++counter);
    if (parts_->taken.insert(folded + suffix).second) return stem + suffix;
  }
}

}  // namespace onnxar
