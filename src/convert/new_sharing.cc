// Warns of tensors of a new model that begin to share data of an archive.
#include "convert/new_sharing.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "archive/graphs.h"
#include "base/text.h"

namespace onnxar {

void NewSharing::note(const onnx::TensorSite& site, const onnx::ExternalLink& link) {
  names_[{link.location, std::to_string(link.offset)}].emplace(site.tensor.name);
}

std::optional<NewSharing::Range> NewSharing::range_of(const onnx::TensorView& tensor) {
  const auto location = tensor.linked_location();
  if (!location) return std::nullopt;
  return Range(*location, tensor.external.offset.value_or("0"));
}

void NewSharing::note_all(Bytes graph) {
  onnx::walk_tensors(graph, [this](const onnx::TensorSite& site) {
    if (const auto range = range_of(site.tensor)) names_[*range].emplace(site.tensor.name);
  });
}

void NewSharing::warn(const Archive& archive, std::vector<Finding>& remarks) const {
  std::map<Range, std::size_t> before;
  for (const auto& [range, names] : names_) {
    if (names.size() > 1) before.emplace(range, 0);
  }
  if (before.empty()) return;
  for (const ArchiveEntry& graph : all_graphs(archive)) {
    walk_as_far_as_read(archive, graph, [&before](const onnx::TensorSite& site) {
      const auto range = range_of(site.tensor);
      const auto found = range ? before.find(*range) : before.end();
      if (found != before.end()) ++found->second;
    });
  }
  std::erase_if(before, [this](const auto& each) {
    return names_.at(each.first).size() <= std::max<std::size_t>(each.second, 1);
  });
  if (before.empty()) return;
  const auto& [range, count] = *before.begin();
  const std::set<std::string>& names = names_.at(range);
  const std::size_t others = before.size() - 1;
  const std::string more =
      others == 0 ? "" : base::concat(" (and ", others, others == 1 ? " more entry)" : " more entries)");
  remarks.push_back(
      {Severity::warning,
       Code::archive_entry_shared,
       {range.first, std::nullopt},
       base::concat("tensors ", base::quoted(*names.begin()), " and ", base::quoted(*std::next(names.begin())),
                    " now have the same data, which ", count, count == 1 ? " tensor" : " tensors", " had before", more,
                    "; if the model was merged from two archives, the weights of one of them are missing: `pack` both "
                    "archives into one, and merge their graphs there")});
}

}  // namespace onnxar
