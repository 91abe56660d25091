#include "convert/replace_plan.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "archive/external_tensor.h"
#include "archive/graphs.h"
#include "archive/keys.h"
#include "base/open_file.h"
#include "base/text.h"
#include "convert/companions.h"
#include "onnx/external_data.h"
#include "onnx/fields.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "os/names.h"

namespace onnxar {

ReplacedFiles::ReplacedFiles(ArchiveEditor& editor, const ReplaceOptions& options) {
  std::vector<std::string_view> removed(options.remove.begin(), options.remove.end());
  for (const AddedFile& file : options.add) {
    added_.push_back(added_file(file));
    if (editor.archive().find(file.name)) removed.push_back(file.name);
  }
  // A graph that cannot be read may name any entry, so the editor removes nothing else before it.
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

namespace {

/// The entries that tensors name before the edit, from one walk of the graphs and the model. Damage in them ends only
/// their own walk: the edit may be there to replace them. Errors: usage.argument, if a graph that stays has a tensor in
/// the bytes of the model: the edit would silently give it other data.
EntryUses uses_before(const Archive& archive, const ReplacedFiles& files, const LoadOptions& load, Replaced replaced) {
  std::vector<ArchiveEntry> graphs = archive.graphs();
  // Graphs that stay come first: a removed graph may name the model, and must not be noted before the others are asked.
  std::ranges::stable_partition(graphs, [&files](const ArchiveEntry& graph) { return files.stays(graph.index); });
  EntryUses uses(archive);
  for (const ArchiveEntry& graph : graphs) {
    note_as_far_as_read(uses, archive, graph, load);
    if (replaced == Replaced::model && files.stays(graph.index)) refuse_use_of_model(uses, archive, graph);
  }
  note_as_far_as_read(uses, archive, archive.entry(archive.size() - 1), load);
  return uses;
}

}  // namespace

ExternalPolicy replace_policy(std::uint64_t threshold, const ReplaceOptions& options) {
  return ExternalPolicy::of(SaveOptions{.threshold = threshold,
                                        .all_sites = options.all_sites,
                                        .attributes = options.attributes,
                                        .subgraphs = options.subgraphs});
}

ReplacePlan::ReplacePlan(const LoadedModel& model, const Archive& archive, std::size_t kept, const ReplacedFiles& files,
                         const ReplaceOptions& options, const LoadOptions& load, Replaced replaced)
    : model_(model),
      archive_(archive),
      kept_(kept),
      moved_(replace_policy(options.threshold, options)),
      movable_(replace_policy(0, options)),
      entries_(archive),
      expansion_(model),
      read_(model) {
  // The new model takes over the name of the old one.
  const bool is_named = replaced == Replaced::graph || model_name_of(archive.model()).has_value();
  if (!is_named || !options.add.empty())
    files.expect_free_name_of(is_named ? archive.model() : model.skeleton, archive);
  // In this order, because `decide`, which the rewriting below calls, needs the entries and the taken keys.
  add_entries(uses_before(archive, files, load, replaced));
  reserve_keys(options.add);
  proto_ = onnx::rewrite_tensors(
      model.skeleton, [this](const onnx::TensorSite& site) { return decide(site); }, {model.max_depth},
      kept_name(replaced));
}

/// Adds the entries that data may be linked to. A side file or a graph is not one, even if its bytes are equal: the
/// link would make it a weight, which no edit can remove.
void ReplacePlan::add_entries(const EntryUses& uses) {
  for (std::size_t i = 0; i < kept_; ++i) {
    const EntryKind what = uses.kind_of(i);
    if (what == EntryKind::weight || what == EntryKind::unused) entries_.add(archive_.entry(i));
  }
}

void ReplacePlan::reserve_keys(const std::vector<AddedFile>& added) {
  // Names of removed entries are avoided, too: they mean those entries in earlier states of the file.
  for (std::size_t i = 0; i + 1 < archive_.size(); ++i) keys_.reserve(archive_.entry(i).name);
  for (const AddedFile& file : added) keys_.reserve(file.name);
  // In a link, an entry with the name of the archive's file could be taken for the file.
  for (const auto& file : {archive_.path(), base::real_path(archive_.path())})
    keys_.reserve(os::text_of(file.filename()));
}

/// The model's name among the graphs belongs to the archive, so the new model takes it over (G4). A graph has none.
onnx::MetadataEdit ReplacePlan::kept_name(Replaced replaced) const {
  onnx::MetadataEdit edit;
  edit.drop_key = model_name_key;
  if (replaced == Replaced::graph) return edit;
  const auto name = model_name_of(archive_.model());
  if (!name || model_names_of(model_.skeleton) == std::vector{*name}) return {};
  onnx::append_string_entry(edit.add, onnx::model_field::metadata_props, model_name_key, *name);
  return edit;
}

void ReplacePlan::add_to(ReplaceReport& report) const {
  report.remarks.insert(report.remarks.end(), remarks_.begin(), remarks_.end());
  report.tensors_outside = tensors_outside_;
}

onnx::TensorEdit ReplacePlan::decide(const onnx::TensorSite& site) {
  if (site.tensor.lacks_data()) remarks_.push_back(no_data(site, model_.without_data.place_of(site)));
  const Payload* payload = model_.payload_of(site);
  const auto slice = payload == nullptr ? place_of_small(site) : place_of(site, *payload);
  if (slice) {
    ++tensors_outside_;
    return onnx::TensorEdit::link_to(*slice);
  }
  if (payload == nullptr) return onnx::TensorEdit::keep();
  expansion_.add(*payload);
  return onnx::TensorEdit::put_inline(payload->source);
}

/// Data that the policy leaves inline is linked only to an entry that exists already.
std::optional<onnx::ExternalLink> ReplacePlan::place_of_small(const onnx::TensorSite& site) {
  const onnx::TensorView& tensor = site.tensor;
  if (!tensor.raw_data || tensor.typed_data || !tensor.restorable) return std::nullopt;
  if (site.levels.size() >= model_.max_depth) return std::nullopt;  // a link is a message, one level deeper
  const Bytes bytes = tensor.raw_data->of(site.model);
  // Surplus bytes would be lost in an entry that has only the tensor's.
  if (tensor.expected_size() != bytes.size() || !movable_.is_external(site, bytes.size())) return std::nullopt;
  return place_of_equal(SpanSource(bytes));
}

std::optional<onnx::ExternalLink> ReplacePlan::place_of(const onnx::TensorSite& site, const Payload& payload) {
  if (payload.kept_link) return kept_link(site, *payload.kept_link);
  // First, because what must be inline at any threshold must not follow a tensor that shares its bytes out of the
  // model.
  if (!movable_.is_external(site, payload.size())) return std::nullopt;
  // Tensors that share bytes share the entry, even one below the threshold: then no byte is written twice.
  const auto known = known_.find(Extent(payload));
  if (known != known_.end()) return known->second;
  // Slices may overlap, and each is read to be compared: without the limit, a small file could cost quadratic work.
  read_.add(payload);
  auto slice = place_of_equal(*payload.source);
  if (!slice && moved_.is_external(site, payload.size())) slice = place_of_new(site, payload);
  if (slice) known_.emplace(payload, *slice);
  return slice;
}

/// The link of a tensor that names an entry of the archive already.
onnx::ExternalLink ReplacePlan::kept_link(const onnx::TensorSite& site, const onnx::ExternalLink& link) const {
  if (archive_.find(link.location)->index < kept_) return link;
  throw Error(
      Code::usage_argument,
      base::concat(describe(site), ": its data is in ", base::quoted(link.location),
                   ", which would move because an entry before it is replaced; replace that entry by a separate edit"),
      {link.location, std::nullopt}, archive_.path());
}

std::optional<onnx::ExternalLink> ReplacePlan::place_of_equal(const ByteSource& source) const {
  const auto entry = entries_.find(source);
  if (!entry) return std::nullopt;
  return onnx::ExternalLink{std::string(entry->name), 0, entry->size};
}

onnx::ExternalLink ReplacePlan::place_of_new(const onnx::TensorSite& site, const Payload& payload) {
  expansion_.add(payload);
  new_weights_.push_back({keys_.make(site.tensor.name), &payload});
  return {new_weights_.back().name, 0, payload.size()};
}

}  // namespace onnxar
