#include "archive/entry_uses.h"

#include <algorithm>
#include <utility>

#include "archive/graphs.h"
#include "archive/keys.h"
#include "base/crc32.h"
#include "base/keyed_hash.h"

namespace onnxar {
namespace {

/// A hostile archive may have a million entries with one CRC-32. Comparing each new tensor with all of them would take
/// quadratic time.
constexpr std::size_t most_compared = 4;

std::uint32_t crc_of(const ByteSource& source) {
  std::uint32_t crc = 0;
  source.read([&crc](Bytes piece) { crc = base::crc32(crc, piece); });
  return crc;
}

}  // namespace

std::optional<ArchiveEntry> EntriesByContent::find(const ByteSource& source) const {
  // The CRC-32 of the source costs a full read, so the size is looked up first: most new tensors have no counterpart.
  const auto of_size = by_size_and_crc_.lower_bound({source.size(), 0});
  if (of_size == by_size_and_crc_.end() || of_size->first.first != source.size()) return std::nullopt;
  const auto [first, last] = by_size_and_crc_.equal_range({source.size(), crc_of(source)});
  std::size_t compared = 0;
  for (auto each = first; each != last && compared < most_compared; ++each, ++compared) {
    const ArchiveEntry entry = archive_.entry(each->second);
    if (base::has_bytes(source, archive_.bytes(entry))) return entry;
  }
  return std::nullopt;
}

void EntryUses::note(const onnx::TensorSite& site) {
  if (!site.tensor.is_external() || !site.tensor.external.location) return;
  if (const auto entry = archive_.find(*site.tensor.external.location)) named_[entry->index] = true;
}

EntryKind EntryUses::kind_of(std::size_t index) const {
  if (index + 1 == archive_.size()) return EntryKind::model;
  const std::string_view name = archive_.entry(index).name;
  // A graph stays a graph even if a tensor of another graph links into its bytes.
  if (is_graph_name(name)) return EntryKind::graph;
  if (named_[index]) return EntryKind::weight;
  return is_identifier(name) ? EntryKind::unused : EntryKind::side_file;
}

std::size_t EntryUses::end_of_weights() const {
  // The search begins before the model, which is last. Every edit writes a new model, so it never counts.
  const auto last = std::find(named_.rbegin() + 1, named_.rend(), true);
  return static_cast<std::size_t>(named_.rend() - last);
}

EntryUses uses_of(const Archive& archive, const LoadOptions& options) {
  EntryUses uses(archive);
  walk_all_graphs(archive, options, [&uses](const ArchiveEntry&, const onnx::TensorSite& site) { uses.note(site); });
  return uses;
}

bool note_as_far_as_read(EntryUses& uses, const Archive& archive, const ArchiveEntry& graph,
                         const LoadOptions& options) {
  return walk_as_far_as_read(archive, graph, options, [&uses](const onnx::TensorSite& site) { uses.note(site); });
}

void refuse_use_of_model(const EntryUses& uses, const Archive& archive, const ArchiveEntry& graph) {
  if (!uses.is_named(archive.size() - 1)) return;
  throw Error(Code::usage_argument,
              "a tensor of this graph links to the bytes of the model, so a new model would change its data",
              {std::string(graph.name), std::nullopt}, archive.path(), {Hint::pack_own_data});
}

}  // namespace onnxar
