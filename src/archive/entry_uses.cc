// Notes the entries that tensors name, and decides by that and by its name what an entry is for.
#include "archive/entry_uses.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "archive/graphs.h"
#include "archive/keys.h"
#include "onnxar/error.h"

namespace onnxar {

void EntryUses::note(const onnx::TensorSite& site) {
  const auto location = site.tensor.linked_location();
  const auto entry = location ? archive_.find(*location) : std::nullopt;
  if (entry) named_[entry->index] = true;
}

EntryKind EntryUses::kind_of(std::size_t index) const {
  if (index + 1 == archive_.size()) return EntryKind::model;
  const std::string_view name = archive_.entry(index).name;
  // A graph stays a graph even if a tensor of another graph links into its bytes.
  if (is_graph_name(name)) return EntryKind::graph;
  if (named_[index]) return EntryKind::weight;
  return is_key(name) ? EntryKind::unused : EntryKind::side_file;
}

std::size_t EntryUses::end_of_weights() const {
  // The search begins before the model, which is last. Every edit writes a new model, so it never counts.
  const auto last = std::find(named_.rbegin() + 1, named_.rend(), true);
  return static_cast<std::size_t>(named_.rend() - last);
}

EntryUses uses_of(const Archive& archive) {
  EntryUses uses(archive);
  for (const ArchiveEntry& graph : all_graphs(archive)) {
    walk_graph(archive, graph, [&uses](const onnx::TensorSite& site) { uses.note(site); });
  }
  return uses;
}

bool note_as_far_as_read(EntryUses& uses, const Archive& archive, const ArchiveEntry& graph) {
  return walk_as_far_as_read(archive, graph, [&uses](const onnx::TensorSite& site) { uses.note(site); });
}

void refuse_use_of_model(const EntryUses& uses, const Archive& archive, const ArchiveEntry& graph) {
  if (!uses.is_named(archive.size() - 1)) return;
  throw Error(Code::usage_argument,
              "a tensor of this graph links to the bytes of the model, so a new model would change its data",
              {std::string(graph.name), std::nullopt}, archive.path(), {Hint::pack_own_data});
}

}  // namespace onnxar
