// Replaces the model of an archive in place, and appends only the data that the archive lacks.
#include "convert/replace.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/edit.h"
#include "archive/entry_source.h"
#include "archive/entry_uses.h"
#include "archive/entry_writer.h"
#include "archive/graph_rules.h"
#include "archive/graphs.h"
#include "archive/keys.h"
#include "archive/model_proof.h"
#include "archive/tensor_text.h"
#include "base/kept.h"
#include "base/progress.h"
#include "base/sources.h"
#include "base/text.h"
#include "convert/companions.h"
#include "convert/entries_by_content.h"
#include "convert/expansion.h"
#include "convert/files_beside.h"
#include "convert/kept_checksums.h"
#include "convert/load.h"
#include "convert/model_source.h"
#include "convert/new_sharing.h"
#include "convert/open.h"
#include "convert/replaced_files.h"
#include "convert/target_source.h"
#include "convert/variants.h"
#include "onnx/duplicates.h"
#include "onnx/external_data.h"
#include "onnx/fields.h"
#include "onnx/rewrite.h"
#include "onnx/rope.h"
#include "onnx/string_entry.h"
#include "onnx/wire.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/bytes.h"
#include "onnxar/convert.h"
#include "onnxar/error.h"

namespace onnxar {
namespace {

/// States what the new model replaces: the model of the archive, or another graph.
enum class Replaced : std::uint8_t { model, graph };

/// Returns the entries that tensors name before the edit, from one walk of the graphs and the model. A damaged graph
/// ends only its own walk, because the edit may replace it. Throws usage.argument if a graph that stays has a tensor in
/// the bytes of the model: the edit would silently change its data.
EntryUses uses_before(const Archive& archive, const ReplacedFiles& files, Replaced replaced) {
  std::vector<ArchiveEntry> graphs = archive.graphs();
  // Graphs that stay come first: a removed graph may name the model, and must not be noted before the others are
  // checked.
  std::ranges::stable_partition(graphs, [&files](const ArchiveEntry& graph) { return files.stays(graph.index); });
  EntryUses uses(archive);
  for (const ArchiveEntry& graph : graphs) {
    note_as_far_as_read(uses, archive, graph);
    if (replaced == Replaced::model && files.stays(graph.index)) refuse_use_of_model(uses, archive, graph);
  }
  note_as_far_as_read(uses, archive, own_model_entry(archive));
  return uses;
}

/// Decides for each tensor of the new model where its data is: in an existing entry, in a new entry, or inline. Not
/// synchronised.
class ReplacePlan {
 public:
  /// Plans links to the first `kept` entries of the archive, which do not move, and to new entries only.
  ReplacePlan(base::Kept<const LoadedModel> model, base::Kept<const Archive> archive, std::size_t kept,
              const ReplaceOptions& options, const LoadOptions& load)
      : model_(model),
        archive_(archive),
        kept_(kept),
        moved_(replace_policy(options.threshold, options)),
        movable_(replace_policy(0, options)),
        entries_(archive),
        checksums_(archive, load),
        expansion_(model),
        read_(model),
        keys_(archive) {}

  /// Returns the model with every link in its final form. Call it once, before the other members. Throws usage.argument
  /// if a tensor of a graph that stays is in the bytes of the old model, or if a link leads to an entry that would
  /// move; onnx.model.expansion; archive.graph.name; wire.*, onnx.*. Cost: O(directory + old model + graphs + new
  /// model), and reading data that may equal an entry's.
  onnx::Rope rewritten(const ReplacedFiles& files, const std::vector<AddedFile>& added, Replaced replaced) {
    // The new model takes over the name of the old one.
    const bool is_named = replaced == Replaced::graph || model_name_of(archive_.model()).has_value();
    if (!is_named || !added.empty()) files.expect_free_name_of(is_named ? archive_.model() : model_.skeleton, archive_);
    add_entries(uses_before(archive_, files, replaced));
    for (const AddedFile& file : added) keys_.reserve(file.name);
    return onnx::rewrite_tensors(
        model_.skeleton, [this](const onnx::TensorSite& site) { return decide(site); }, kept_name(replaced));
  }

  [[nodiscard]] const std::vector<SideFile>& new_weights() const noexcept { return new_weights_; }
  /// Moves the remarks to the report, and adds the number of tensors in entries. Call it once.
  void add_to(ReplaceReport& report) {
    sharing_.warn(archive_, remarks_);
    std::ranges::move(remarks_, std::back_inserter(report.remarks));
    report.tensors_outside = tensors_outside_;
    report.shared_bytes = shared_bytes_;
  }

 private:
  /// Adds the entries that data may be linked to. Excludes side files and graphs, even if their bytes are equal: a link
  /// would make them weights, which no edit can remove.
  void add_entries(const EntryUses& uses) {
    for (std::size_t i = 0; i < kept_; ++i) {
      const EntryKind what = uses.kind_of(i);
      if (what == EntryKind::weight || what == EntryKind::unused) entries_.add(archive_.entry(i));
    }
  }

  /// Returns the edit that gives the new model the old one's name among the graphs, which belongs to the archive (G4).
  /// A graph has no such name.
  [[nodiscard]] onnx::MetadataEdit kept_name(Replaced replaced) const {
    onnx::MetadataEdit edit;
    edit.drop_key = model_name_key;
    if (replaced == Replaced::graph) return edit;
    const auto name = model_name_of(archive_.model());
    if (!name || model_names_of(model_.skeleton) == std::vector{*name}) return {};
    onnx::append_string_entry(edit.add, onnx::model_field::metadata_props, model_name_key, *name);
    return edit;
  }

  onnx::TensorEdit decide(const onnx::TensorSite& site) {
    if (site.tensor.lacks_data()) remarks_.push_back(no_data(site, model_.without_data));
    const Payload* payload = model_.payload_of(site);
    // If its graph defines the name more than once, data is not moved into or out of the model.
    const bool is_duplicate = duplicates_.has(site) && (payload == nullptr || payload->size() != 0);
    if (is_duplicate && payload == nullptr) return onnx::TensorEdit::keep();
    const auto slice = payload == nullptr ? place_of_small(site) : place_of(site, *payload, is_duplicate);
    if (slice) {
      ++tensors_outside_;
      return onnx::TensorEdit::link_to(*slice);
    }
    if (payload == nullptr) return onnx::TensorEdit::keep();
    expansion_.add(*payload);
    return onnx::TensorEdit::put_inline(payload->source);
  }

  /// Links data that the policy leaves inline only to an existing entry.
  std::optional<onnx::ExternalLink> place_of_small(const onnx::TensorSite& site) {
    const onnx::TensorView& tensor = site.tensor;
    if (!tensor.raw_data || tensor.typed_data || !tensor.restorable) return std::nullopt;
    if (site.levels.size() >= onnx::most_nested_messages) return std::nullopt;  // a link is a message, one level deeper
    const Bytes bytes = tensor.raw_data->of(site.model);
    // Surplus bytes would be lost, because an entry has only the tensor's bytes.
    if (tensor.expected_size() != bytes.size() || !movable_.is_external(site, bytes.size())) return std::nullopt;
    return place_of_equal(SpanSource(bytes));
  }

  std::optional<onnx::ExternalLink> place_of(const onnx::TensorSite& site, const Payload& payload, bool is_duplicate) {
    if (payload.kept_link) return kept_link(site, payload);
    // Data that the program supplies was in its message, as in `ModelWriter::save`.
    if (is_duplicate && !payload.may_be_shared) return std::nullopt;
    // First, because data that must be inline at any threshold must not leave the model with a tensor that shares its
    // bytes.
    if (!is_duplicate && !movable_.is_external(site, payload.size())) return std::nullopt;
    // Tensors that share bytes share the entry, even below the threshold, so that no byte is written twice.
    const auto known = known_.find(Extent(payload));
    if (known != known_.end()) return known->second;
    // Slices may overlap, and each is read to be compared: without the limit, a small file could cost quadratic work.
    read_.add(payload);
    auto slice = place_of_equal(*payload.source);
    if (slice) shared_bytes_ += payload.size();
    if (!slice && (is_duplicate || moved_.is_external(site, payload.size()))) slice = place_of_new(site, payload);
    if (slice) known_.emplace(payload, *slice);
    return slice;
  }

  /// Returns the link of a tensor that already names an entry of the archive.
  [[nodiscard]] onnx::ExternalLink kept_link(const onnx::TensorSite& site, const Payload& payload) {
    const onnx::ExternalLink& link = *payload.kept_link;
    if (archive_.find(link.location)->index < kept_) {
      checksums_.prove(payload);
      sharing_.note(site, link);
      return link;
    }
    throw Error(Code::usage_argument,
                base::concat(
                    describe(site), ": its data is in ", base::quoted(link.location),
                    ", which would move because an entry before it is replaced; replace that entry by a separate edit"),
                {link.location, std::nullopt}, archive_.path());
  }

  [[nodiscard]] std::optional<onnx::ExternalLink> place_of_equal(const ByteSource& source) const {
    const auto entry = entries_.find(source);
    if (!entry) return std::nullopt;
    return onnx::ExternalLink{std::string(entry->name), 0, entry->size};
  }

  onnx::ExternalLink place_of_new(const onnx::TensorSite& site, const Payload& payload) {
    expansion_.add(payload);
    new_weights_.push_back({keys_.make(site.tensor.name), payload.source});
    return {new_weights_.back().name, 0, payload.size()};
  }

  const LoadedModel& model_;
  const Archive& archive_;
  std::size_t kept_;
  ExternalPolicy moved_;    // data that becomes a new entry
  ExternalPolicy movable_;  // data that may be linked to an existing entry: of any size
  EntriesByContent entries_;
  KeptChecksums checksums_;
  Expansion expansion_;  // counts the bytes that are written
  Expansion read_;       // counts the bytes that are compared with entries
  onnx::DuplicateNames duplicates_;
  NewSharing sharing_;
  KeyMaker keys_;  // also avoids names of removed entries, which exist in earlier states of the file
  std::map<Extent, onnx::ExternalLink> known_;
  std::vector<SideFile> new_weights_;
  std::vector<Finding> remarks_;
  std::uint64_t tensors_outside_ = 0;
  std::uint64_t shared_bytes_ = 0;
};

/// Warns of added graphs that use data of the archive under new names. REQUIRES: they were proved.
void warn_of_sharing(const std::vector<AddedFile>& files, const std::vector<SideFile>& added, const Archive& archive,
                     ReplaceReport& report) {
  NewSharing sharing;
  for (const auto& [name, source] : added) {
    // The graph of ReplaceOptions::graph is not in `files`; its plan has warned.
    if (!is_graph_name(name) || std::ranges::find(files, name, &AddedFile::name) == files.end()) continue;
    const ByteSpan graph = bytes_of_graph(name, *source);
    sharing.note_all(graph.bytes());
  }
  sharing.warn(archive, report.remarks);
}

/// Appends the new weights, the added files and then the model, and adds their sizes to the report. The editor reverts
/// everything if a step throws. Throws archive.model.too_large, and what ArchiveEditor::add and commit throw.
void append(ArchiveEditor& editor, std::vector<SideFile> entries, const ReplacedFiles& files, const ByteSource& model,
            const ReplaceOptions& options, ReplaceReport& report) {
  entries.insert(entries.end(), files.added().begin(), files.added().end());
  std::vector<NewEntry> added;
  for (const auto& [name, source] : entries) {
    added.push_back({name, source.get()});
    report.bytes_added = base::add_announced(report.bytes_added, source->size(), {name, std::nullopt});
  }
  expect_one_meaning(options.add, entries, editor.archive());
  report.entries_added = entries.size();
  report.model_bytes = model.size();
  report.file_bytes = EditAccess::plan(editor, added, model);
  report.file_bytes_before = editor.archive().file().size();
  warn_of_sharing(options.add, files.added(), editor.archive(), report);
  report.discards_states = editor.kept_entries() == 0;
  if (options.output.dry_run) return;
  editor.reserve(report.file_bytes);  // a full disk is noticed before the archive changes
  base::Progress progress(options.progress, report.bytes_added);
  for (const auto& [name, source] : entries) editor.add(name, base::CountedSource(*source, progress));
  editor.commit(model);
}

/// Notes the entries that are not copied from a new model that is an archive: side files and graphs.
void note_what_stays(const LoadedModel& model, ReplaceReport& report) {
  const auto note = [&report](const std::string& name, std::string message) {
    report.remarks.push_back({Severity::note, Code::archive_entry_unused, {name, std::nullopt}, std::move(message)});
  };
  for (const SideFile& file : model.side_files) {
    note(file.name, "no tensor of the other archive uses this entry, so it is not copied");
  }
  for (const LoadedGraph& graph : model.graphs)
    note(graph.name, "is a further graph of the other archive, which is not copied");
}

ArchiveEditor open_editor(const std::filesystem::path& archive, const ReplaceOptions& options) {
  EditOptions edit;
  edit.output = options.output;
  // The plan resolves or makes every link of the new model. Only links in added graphs remain to be proved.
  edit.verify_model = !options.graph.empty() ||
                      std::ranges::any_of(options.add, [](const AddedFile& file) { return is_graph_name(file.name); });
  ArchiveEditor editor = ArchiveEditor::open(archive, edit);
  if (options.prepared_from != nullptr && !same_state(*options.prepared_from, editor.archive())) {
    throw Error(Code::io_changed, "another edit changed the archive while this one was prepared", {}, archive);
  }
  return editor;
}

/// Returns the entry of the graph that is replaced; empty for the model.
std::string entry_to_replace(const Archive& archive, const std::string& graph) {
  const auto entry = find_graph(archive, graph);
  if (entry) return entry->name == model_entry_name ? std::string() : std::string(entry->name);
  std::string name = graph_file_name(graph);
  if (const auto fault = graph_name_fault(name)) {
    throw Error(Code::usage_argument, base::concat("no graph can have this name: ", *fault), {name, std::nullopt},
                archive.path());
  }
  return name;
}

LoadedModel model_to_load() {
  LoadedModel model;
  model.id = new_model_id();
  return model;
}

}  // namespace

ExternalPolicy replace_policy(std::uint64_t threshold, const ReplaceOptions& options) {
  return ExternalPolicy::of(SaveOptions{.threshold = threshold,
                                        .all_sites = options.all_sites,
                                        .attributes = options.attributes,
                                        .subgraphs = options.subgraphs});
}

ReplaceReport replace_model_of(const std::filesystem::path& path, LoadedModel model, const OpenModel& open_model,
                               const ReplaceOptions& options, const LoadOptions& load) {
  // The editor comes first, because it takes the lock: the plan must be made from the state that the edit changes.
  ArchiveEditor editor = open_editor(path, options);
  const Archive& archive = editor.archive();
  // Destroyed before the editor, with its views of the archive: Windows does not truncate a mapped file.
  LoadedModel loaded = std::move(model);
  LoadOptions all_links = load;
  all_links.load_external_data = true;  // an unchanged link would be committed without proof
  split_model(loaded, open_model(archive), replace_policy(options.threshold, options), all_links);
  // A graph is added like another entry, before the model, which stays.
  const auto planned = std::make_shared<onnx::Rope>();
  const std::string graph = entry_to_replace(archive, options.graph);
  if (const auto old = archive.find(graph)) archive.verify(*old);  // the new graph may be made from it
  ReplaceOptions with_graph = options;
  if (!graph.empty()) with_graph.add.push_back({graph, {}, planned});
  ReplaceReport report;
  with_graph = with_manifest(archive, std::move(with_graph), report.remarks);
  const ReplacedFiles files(editor, with_graph);
  ReplacePlan plan(loaded, archive, editor.kept_entries(), with_graph, load);
  *planned = plan.rewritten(files, with_graph.add, graph.empty() ? Replaced::model : Replaced::graph);
  const EntrySource old_model(archive, own_model_entry(archive));
  const ByteSource& last = graph.empty() ? static_cast<const ByteSource&>(*planned) : old_model;
  std::ranges::move(loaded.remarks, std::back_inserter(report.remarks));
  plan.add_to(report);
  note_what_stays(loaded, report);
  append(editor, plan.new_weights(), files, last, with_graph, report);
  return report;
}

FileLinks file_links(const ReplaceOptions& options) {
  return options.append_external ? FileLinks::allowed : FileLinks::refused;
}

ReplaceReport replace(const std::filesystem::path& archive, const std::filesystem::path& model,
                      const ReplaceOptions& options, const LoadOptions& load) {
  const auto open = [&](const Archive& target) { return open_source_for(target, model, file_links(options), load); };
  return replace_model_of(archive, model_to_load(), open, options, load);
}

ReplaceReport replace(const std::filesystem::path& archive, Bytes model, const ReplaceOptions& options,
                      const LoadOptions& load) {
  const auto open = [&](const Archive& target) { return source_for(target, model, file_links(options), load); };
  return replace_model_of(archive, model_to_load(), open, options, load);
}

ReplaceReport replace(const std::filesystem::path& archive, const ReplaceOptions& options) {
  if (!options.graph.empty() || options.append_external) {
    throw Error(Code::usage_argument, "the options for a graph and for its data files need a new model; pass one", {},
                archive);
  }
  ArchiveEditor editor = open_editor(archive, options);
  ReplaceReport report;
  const ReplaceOptions edit = with_manifest(editor.archive(), options, report.remarks);
  const ReplacedFiles files(editor, edit);
  const ArchiveEntry entry = own_model_entry(editor.archive());
  // Only added names can clash with the model's name among the graphs; removing entries frees names.
  if (!edit.add.empty()) files.expect_free_name_of(editor.archive().model(), editor.archive());
  // The model has to be the last entry, so it is appended again after the new files.
  const EntrySource model(editor.archive(), entry);
  append(editor, {}, files, model, edit, report);
  return report;
}

}  // namespace onnxar
