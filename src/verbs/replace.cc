#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "archive/entry_source.h"
#include "archive/keys.h"
#include "base/checked.h"
#include "base/open_file.h"
#include "base/text.h"
#include "onnx/fields.h"
#include "onnx/rewrite.h"
#include "onnx/string_entry.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "onnxar/edit.h"
#include "sink/side_files.h"
#include "skeleton/expansion.h"
#include "skeleton/load.h"
#include "source/graph_rules.h"
#include "source/link_marker.h"
#include "source/open.h"
#include "tensors/describe.h"
#include "tensors/entries_by_content.h"
#include "tensors/entry_uses.h"

namespace onnxar {
namespace {

/// Which tensors move into entries if they have at least `threshold` bytes.
ExternalPolicy policy_from(std::uint64_t threshold, const ReplaceOptions& options) {
  return ExternalPolicy::of(
      SaveOptions{.threshold = threshold, .all_sites = options.all_sites, .attributes = options.attributes});
}

/// Decides for each tensor where its data is or will be, and plans the new entries.
class Replacement {
 public:
  struct NewEntry {
    std::string name;
    const Payload* payload;
  };

  /// The first `kept` entries of the archive stay where they are, and links lead only to them. Data that equals a
  /// side file or a graph is not linked to it: the entry would become a weight.
  Replacement(const LoadedModel& model, const Archive& archive, const EntryUses& uses, std::size_t kept,
              const ReplaceOptions& options)
      : model_(model),
        archive_(archive),
        kept_(kept),
        moved_(policy_from(options.threshold, options)),
        movable_(policy_from(0, options)),
        entries_(archive),
        expansion_(model),
        read_(model) {
    for (std::size_t i = 0; i + 1 < archive.size(); ++i) {
      const EntryKind what = uses.kind_of(i);
      if (i < kept && (what == EntryKind::weight || what == EntryKind::unused)) entries_.add(archive.entry(i));
      // A key has no slash, so it can only clash with a whole name or with the first folder of one.
      const std::string_view name = archive.entry(i).name;
      keys_.reserve(name.substr(0, name.find('/')));
    }
    for (const AddedFile& file : options.add) keys_.reserve(std::string_view(file.name).substr(0, file.name.find('/')));
    // In a link, an entry with the name of the archive's file could be taken for the file.
    for (const auto& file : {archive.path(), base::real_path(archive.path())}) keys_.reserve(file.filename().string());
  }

  /// The model with every link in its final form. The plan and the loaded model must outlive it.
  wire::Rope rewrite() {
    return onnx::rewrite_tensors(
        model_.skeleton, [this](const onnx::TensorSite& site) { return decide(site); }, {model_.max_depth},
        kept_name());
  }

  [[nodiscard]] const std::vector<NewEntry>& new_entries() const noexcept { return new_entries_; }
  [[nodiscard]] std::uint64_t tensors_outside() const noexcept { return tensors_outside_; }
  [[nodiscard]] const std::vector<Finding>& remarks() const noexcept { return remarks_; }

 private:
  /// The model's name among the graphs belongs to the archive, so the new model takes it over (G4).
  [[nodiscard]] onnx::MetadataEdit kept_name() const {
    const auto name = model_name_of(archive_.model());
    if (!name || model_names_of(model_.skeleton) == std::vector{*name}) return {};
    onnx::MetadataEdit edit;
    edit.drop_key = model_name_key;
    onnx::append_string_entry(edit.add, onnx::model_field::metadata_props, model_name_key, *name);
    return edit;
  }

  onnx::TensorEdit decide(const onnx::TensorSite& site) {
    if (site.tensor.lacks_data()) {
      remarks_.push_back({Severity::warning, Code::onnx_tensor_no_data, {}, no_data(site), {Hint::dump_or_freeze}});
    }
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
  std::optional<onnx::ExternalLink> place_of_small(const onnx::TensorSite& site) {
    const onnx::TensorView& tensor = site.tensor;
    if (!tensor.raw_data || tensor.typed_data || !tensor.restorable) return std::nullopt;
    if (site.levels.size() >= model_.max_depth) return std::nullopt;  // no room for a link
    const Bytes bytes = tensor.raw_data->of(site.model);
    if (tensor.expected_size() != bytes.size() || !movable_.is_external(site, bytes.size())) return std::nullopt;
    return place_of_equal(SpanSource(bytes));
  }

  std::optional<onnx::ExternalLink> place_of(const onnx::TensorSite& site, const Payload& payload) {
    if (payload.kept_link) return kept_link(site, *payload.kept_link);
    const auto known = known_.find(Extent(payload));
    if (known != known_.end()) return known->second;
    if (!movable_.is_external(site, payload.size())) return std::nullopt;
    read_.add(payload);  // slices that overlap are read several times, to be compared
    auto slice = place_of_equal(*payload.source);
    if (!slice && moved_.is_external(site, payload.size())) slice = place_of_new(site, payload);
    if (slice) known_.emplace(payload, *slice);
    return slice;
  }

  [[nodiscard]] onnx::ExternalLink kept_link(const onnx::TensorSite& site, const onnx::ExternalLink& link) const {
    if (archive_.find(link.location)->index < kept_) return link;
    throw Error(Code::usage_argument,
                base::concat(describe(site), ": its data is in ", base::quoted(link.location),
                             ", which would move, as an entry before it is replaced; do that by another edit"));
  }

  [[nodiscard]] std::optional<onnx::ExternalLink> place_of_equal(const ByteSource& source) const {
    const auto entry = entries_.find(source);
    if (!entry) return std::nullopt;
    return onnx::ExternalLink{std::string(entry->name), 0, entry->size};
  }

  onnx::ExternalLink place_of_new(const onnx::TensorSite& site, const Payload& payload) {
    expansion_.add(payload);
    new_entries_.push_back({keys_.make(site.tensor.name), &payload});
    return {new_entries_.back().name, 0, payload.size()};
  }

  const LoadedModel& model_;
  const Archive& archive_;
  std::size_t kept_;
  ExternalPolicy moved_;
  ExternalPolicy movable_;
  EntriesByContent entries_;
  Expansion expansion_;  // what is written
  Expansion read_;       // what is compared with entries
  KeyMaker keys_;
  std::map<Extent, onnx::ExternalLink> known_;
  std::vector<NewEntry> new_entries_;
  std::vector<Finding> remarks_;
  std::uint64_t tensors_outside_ = 0;
};

/// Side files and graphs that are added to the archive or removed.
class NewFiles {
 public:
  NewFiles(ArchiveEditor& editor, const ReplaceOptions& options) {
    std::vector<std::string_view> removed(options.remove.begin(), options.remove.end());
    for (const AddedFile& file : options.add) {
      sources_.push_back(source_of(file));
      if (editor.archive().find(file.name)) removed.push_back(file.name);
    }
    // A broken graph may name any entry, so graphs are removed first.
    std::ranges::stable_partition(removed, is_graph_name);
    for (const std::string_view name : removed) {
      editor.remove(name);
      removed_.insert(editor.archive().find(name)->index);
    }
    // Graphs come last, as in every archive.
    for (const bool graphs : {false, true}) {
      for (std::size_t i = 0; i < sources_.size(); ++i) {
        if (is_graph_name(options.add[i].name) == graphs) files_.emplace_back(options.add[i].name, sources_[i].get());
      }
    }
  }

  [[nodiscard]] const std::vector<std::pair<std::string_view, const ByteSource*>>& files() const { return files_; }
  /// Whether the entry stays, perhaps at another offset.
  [[nodiscard]] bool stays(std::size_t index) const { return !removed_.contains(index); }

 private:
  static std::unique_ptr<const ByteSource> source_of(const AddedFile& added) {
    SideFile file = added_file(added);
    return std::make_unique<OwnedSource>(file.source, nullptr);
  }

  std::vector<std::unique_ptr<const ByteSource>> sources_;
  std::vector<std::pair<std::string_view, const ByteSource*>> files_;
  std::set<std::size_t> removed_;
};

/// Reports what the edit takes, and performs it unless this is a dry run.
void write(ArchiveEditor& editor, const std::vector<Replacement::NewEntry>& weights, const NewFiles& files,
           const ByteSource& model, const ReplaceOptions& options, ReplaceReport& report) {
  std::vector<std::pair<std::string_view, const ByteSource*>> entries;
  for (const Replacement::NewEntry& weight : weights) entries.emplace_back(weight.name, weight.payload->source.get());
  entries.insert(entries.end(), files.files().begin(), files.files().end());
  std::vector<std::pair<std::string_view, std::uint64_t>> sizes;
  for (const auto& [name, source] : entries) {
    sizes.emplace_back(name, source->size());
    report.bytes_added += source->size();
  }
  report.entries_added = entries.size();
  report.model_bytes = model.size();
  report.file_bytes = editor.size_with(sizes, model.size());
  report.file_bytes_before = editor.archive().file().size();
  if (options.output.dry_run) return;
  editor.reserve(report.file_bytes);
  for (const auto& [name, source] : entries) editor.add(name, *source);
  editor.commit(model);
}

void note_what_stays(const LoadedModel& model, ReplaceReport& report) {
  const auto note = [&report](const std::string& name, std::string message) {
    report.remarks.push_back({Severity::note, Code::archive_entry_unused, {name, std::nullopt}, std::move(message)});
  };
  for (const SideFile& file : model.side_files) {
    note(file.name, "no tensor is in this entry of the other archive; it stays there");
  }
  for (const LoadedGraph& graph : model.graphs)
    note(graph.name, "a further graph of the other archive; it stays there");
}

/// The model may bring a name of its own, and a new file may have the one that the model has.
void expect_free_name(const Archive& archive, Bytes model, const NewFiles& files) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    if (files.stays(i)) names.push_back(archive.entry(i).name);
  }
  for (const auto& [name, source] : files.files()) names.push_back(name);
  expect_free_model_name(model, names, archive.path());
}

/// The entries that tensors name before the edit. Broken models and graphs are allowed: the edit may replace them.
EntryUses uses_before(const Archive& archive, const LoadOptions& load) {
  EntryUses uses(archive);
  static_cast<void>(note_graphs_as_far_as_read(uses, archive, load));
  note_as_far_as_read(uses, archive, archive.entry(archive.size() - 1), load);
  return uses;
}

ReplaceReport replace(ArchiveEditor& editor, std::unique_ptr<Resolver> source, const ReplaceOptions& options,
                      const LoadOptions& load) {
  const Archive& archive = editor.archive();
  const ExternalPolicy policy = policy_from(options.threshold, options);
  const LoadedModel model = load_model(std::move(source), policy, load);
  const NewFiles files(editor, options);
  const bool is_named = model_name_of(archive.model()).has_value();  // the new model takes it over
  if (!is_named || !options.add.empty()) expect_free_name(archive, is_named ? archive.model() : model.skeleton, files);
  refuse_where_graphs_name_the_model(archive, [&files](std::size_t index) { return files.stays(index); }, load);
  Replacement plan(model, archive, uses_before(archive, load), editor.kept_entries(), options);
  const wire::Rope proto = plan.rewrite();
  ReplaceReport report;
  report.remarks = model.remarks;
  report.remarks.insert(report.remarks.end(), plan.remarks().begin(), plan.remarks().end());
  note_what_stays(model, report);
  report.tensors_outside = plan.tensors_outside();
  write(editor, plan.new_entries(), files, proto, options, report);
  return report;
}

FileLinks file_links(const ReplaceOptions& options) {
  return options.append_external ? FileLinks::allowed : FileLinks::refused;
}

ArchiveEditor open_editor(const std::filesystem::path& archive, const ReplaceOptions& options) {
  EditOptions edit;
  edit.output = options.output;
  // Every link of the model is resolved or made here. Only links in added graphs remain to be proved.
  edit.verify_model = std::ranges::any_of(options.add, [](const AddedFile& file) { return is_graph_name(file.name); });
  ArchiveEditor editor = ArchiveEditor::open(archive, edit);
  for (const std::filesystem::path& file : {archive, base::real_path(archive)}) {
    refuse_own_name(editor.archive(), file);
    for (const AddedFile& added : options.add) refuse_own_name(added.name, file);
  }
  return editor;
}

}  // namespace

ReplaceReport replace(const std::filesystem::path& archive, const std::filesystem::path& model,
                      const ReplaceOptions& options, const LoadOptions& load) {
  ArchiveEditor editor = open_editor(archive, options);
  auto source = open_resolver_for(editor.archive(), model, file_links(options), load);
  return replace(editor, std::move(source), options, load);
}

ReplaceReport replace(const std::filesystem::path& archive, Bytes model, const ReplaceOptions& options,
                      const LoadOptions& load) {
  ArchiveEditor editor = open_editor(archive, options);
  auto source = resolver_for(editor.archive(), model, file_links(options), load);
  return replace(editor, std::move(source), options, load);
}

ReplaceReport replace(const std::filesystem::path& archive, const ReplaceOptions& options) {
  ArchiveEditor editor = open_editor(archive, options);
  const NewFiles files(editor, options);
  if (!options.add.empty()) expect_free_name(editor.archive(), editor.archive().model(), files);
  const ArchiveEntry model = editor.archive().entry(editor.archive().size() - 1);
  ReplaceReport report;
  write(editor, {}, files, EntrySource(editor.archive(), model), options, report);
  return report;
}

}  // namespace onnxar
