// Opens the side files and graphs that an edit adds, and marks those that it removes.
#include "convert/replaced_files.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "archive/graph_rules.h"
#include "archive/keys.h"
#include "base/kept.h"
#include "convert/companions_to_save.h"
#include "onnxar/error.h"

namespace onnxar {
namespace {

/// Refuses options that use one entry twice.
void expect_one_use(const ReplaceOptions& options, const Archive& archive) {
  std::set<std::string_view> names;
  const auto note = [&](const std::string& name) {
    if (names.insert(name).second) return;
    throw Error(Code::usage_argument,
                "is added, replaced or removed twice; name it once (an added file replaces the entry of its name)",
                {name, std::nullopt}, archive.path());
  };
  for (const AddedFile& file : options.add) note(file.name);
  for (const std::string& name : options.remove) note(name);
}

}  // namespace

ReplacedFiles::ReplacedFiles(ArchiveEditor& editor, base::Kept<const ReplaceOptions> kept) {
  const ReplaceOptions& options = kept;
  expect_one_use(options, editor.archive());
  std::vector<std::string_view> removed(options.remove.begin(), options.remove.end());
  for (const AddedFile& file : options.add) {
    added_.push_back(added_file(file));
    if (editor.archive().find(file.name)) removed.push_back(file.name);
  }
  // A graph that cannot be read may name any entry, so the editor must remove it before other entries.
  std::ranges::stable_partition(removed, is_graph_name);
  for (const std::string_view name : removed) {
    editor.remove(name);
    removed_.insert(editor.archive().find(name)->index);
  }
  std::ranges::stable_partition(added_, [](const SideFile& file) { return !is_graph_name(file.name); });
}

void ReplacedFiles::expect_free_name_of(Bytes model, const Archive& archive) const {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    if (stays(i)) names.push_back(archive.entry(i).name);
  }
  for (const SideFile& file : added_) names.push_back(file.name);
  expect_free_model_name(model, names, archive.path());
}

}  // namespace onnxar
