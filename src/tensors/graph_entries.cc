#include "tensors/graph_entries.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/keys.h"
#include "base/text.h"
#include "onnx/external_data.h"
#include "onnxar/listing.h"
#include "tensors/archive_walk.h"
#include "tensors/entry_uses.h"

namespace onnxar {
namespace {

/// Lists the names that could have been meant.
std::string names_in(const Archive& archive, const std::optional<std::string>& model) {
  constexpr std::size_t most = 10;
  std::string text = model ? base::concat(base::quoted(*model), " (the model)") : "the model";
  const std::vector<ArchiveEntry> graphs = archive.graphs();
  for (std::size_t i = 0; i < std::min(graphs.size(), most); ++i) {
    text += base::concat(", ", base::quoted(graphs[i].name.substr(0, graphs[i].name.size() - graph_suffix.size())));
  }
  if (graphs.size() > most) text += base::concat(" and ", graphs.size() - most, " more");
  return text;
}

}  // namespace

std::optional<std::string> name_of_model(const Archive& archive) {
  const ArchiveEntry model = archive.entry(archive.size() - 1);
  try {
    for (const onnx::MetadataEntry& found : onnx::find_metadata(archive.bytes(model), model_name_key)) {
      if (found.entry.key == model_name_key) return std::string(found.entry.value);
    }
    return std::nullopt;
  } catch (const Error& error) {
    throw with_place_in(error, archive, model);
  }
}

std::optional<ArchiveEntry> find_graph(const Archive& archive, std::string_view name) {
  const ArchiveEntry model = archive.entry(archive.size() - 1);
  if (name.empty() || name == model_entry_name) return model;
  // `a.onnx` is a graph's whole name if there is one; otherwise it may be `a.onnx.onnx` without the end.
  for (const std::string& file : {graph_file_name(name), base::concat(name, graph_suffix)}) {
    const auto entry = archive.find(file);
    if (entry && is_graph_name(file)) return entry;
    const auto own = name_of_model(archive);
    if (own && base::concat(*own, graph_suffix) == file) return model;
  }
  return std::nullopt;
}

Archive Archive::graph(std::string_view name) const {
  if (const auto entry = find_graph(*this, name)) return ArchiveAccess::view(*this, *entry);
  throw Error(Code::usage_no_such_entry,
              base::concat("the archive has no graph of this name; it has ", names_in(*this, name_of_model(*this))),
              {std::string(name), std::nullopt}, path());
}

std::vector<std::pair<std::string_view, std::string_view>> metadata(const Archive& archive) {
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  try {
    for (const onnx::MetadataEntry& found : onnx::find_metadata(archive.model(), "")) {
      pairs.emplace_back(found.entry.key, found.entry.value);
    }
  } catch (const Error& error) {
    throw with_place_in(error, archive);
  }
  return pairs;
}

std::vector<ArchiveEntry> side_files(const Archive& archive, const LoadOptions& options) {
  const EntryUses uses = uses_of(archive, options);
  std::vector<ArchiveEntry> files;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    if (uses.kind_of(i) == EntryKind::side_file) files.push_back(archive.entry(i));
  }
  return files;
}

}  // namespace onnxar
