#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/entry_source.h"
#include "archive/graphs.h"
#include "archive/keys.h"
#include "base/exact_source.h"
#include "base/open_file.h"
#include "base/progress.h"
#include "base/text.h"
#include "convert/links.h"
#include "convert/load.h"
#include "convert/open.h"
#include "convert/replace_plan.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"

namespace onnxar {
namespace {

/// The entries to append, in the order of the file.
using NewEntries = std::vector<std::pair<std::string_view, const ByteSource*>>;

NewEntries entries_to_append(const std::vector<ReplacePlan::NewWeight>& weights, const ReplacedFiles& files) {
  NewEntries entries;
  for (const ReplacePlan::NewWeight& weight : weights) entries.emplace_back(weight.name, weight.payload->source.get());
  for (const SideFile& file : files.added()) entries.emplace_back(file.name, file.source.get());
  return entries;
}

/// Adds the sizes of the new entries and of the file to the report. Errors: archive.model.too_large.
void add_sizes(ReplaceReport& report, const ArchiveEditor& editor, const NewEntries& entries, std::uint64_t model) {
  std::vector<std::pair<std::string_view, std::uint64_t>> sizes;
  for (const auto& [name, source] : entries) {
    sizes.emplace_back(name, source->size());
    report.bytes_added = base::add_announced(report.bytes_added, source->size(), {std::string(name), std::nullopt});
  }
  report.entries_added = entries.size();
  report.model_bytes = model;
  report.file_bytes = editor.size_with(sizes, model);
  report.file_bytes_before = editor.archive().file().size();
}

/// From here on the archive changes; the editor takes everything back if a step throws.
void append(ArchiveEditor& editor, const NewEntries& entries, const ReplaceReport& report,
            const ProgressCallback& tell) {
  editor.reserve(report.file_bytes);  // a full disk is noticed before the archive changes
  base::Progress progress(tell, report.bytes_added);
  for (const auto& [name, source] : entries) editor.add(name, base::CountedSource(*source, progress));
}

/// Notes the entries that are not copied if the new model is given as an archive: side files and graphs.
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
  // Links to the archive may use either name: that of a symbolic link, or that of the file.
  for (const std::filesystem::path& file : {archive, base::real_path(archive)}) {
    refuse_own_name(editor.archive(), file);
    for (const AddedFile& added : options.add) refuse_own_name(added.name, file);
  }
  return editor;
}

/// The entry of the graph that is replaced; empty for the model.
std::string entry_to_replace(const Archive& archive, const std::string& graph) {
  const auto entry = find_graph(archive, graph);
  if (entry) return entry->name == model_entry_name ? std::string() : std::string(entry->name);
  std::string name = graph_file_name(graph);
  if (const auto fault = graph_name_fault(name)) {
    throw Error(Code::usage_argument, base::concat("no graph can have this name: ", *fault), {name, std::nullopt},
                archive.path());
  }
  for (const std::filesystem::path& file : {archive.path(), base::real_path(archive.path())}) {
    refuse_own_name(name, file);
  }
  return name;
}

/// The bytes of a graph that are known only once the edit is planned.
class PlannedSource final : public ByteSource {
 public:
  void set(const onnx::Rope& proto) { proto_ = &proto; }
  [[nodiscard]] std::uint64_t size() const override { return proto_->size(); }
  void read(const ByteSink& sink) const override { proto_->read(sink); }

 private:
  const onnx::Rope* proto_ = nullptr;
};

LoadedModel model_to_load() {
  LoadedModel model;
  model.id = new_model_id();
  return model;
}

}  // namespace

ReplaceReport replace_model_of(const std::filesystem::path& path, LoadedModel model, const OpenModel& open_model,
                               const ReplaceOptions& options, const LoadOptions& load) {
  // The editor comes first: it takes the lock, so that the plan is made from the state that the edit changes.
  ArchiveEditor editor = open_editor(path, options);
  const Archive& archive = editor.archive();
  // Destroyed before the editor, with the views of the archive that it gets: Windows cuts no file that is mapped.
  LoadedModel loaded = std::move(model);
  split_model(loaded, open_model(archive), replace_policy(options.threshold, options), load);
  // A graph is an entry like an added one, before the model, which stays.
  const auto planned = std::make_shared<PlannedSource>();
  const std::string graph = entry_to_replace(archive, options.graph);
  ReplaceOptions with_graph = options;
  if (!graph.empty()) with_graph.add.push_back({graph, {}, planned});
  const ReplacedFiles files(editor, with_graph);
  const ReplacePlan plan(loaded, archive, editor.kept_entries(), files, with_graph, load,
                         graph.empty() ? Replaced::model : Replaced::graph);
  planned->set(plan.proto());
  const EntrySource old_model(archive, archive.entry(archive.size() - 1));
  const ByteSource& last = graph.empty() ? static_cast<const ByteSource&>(plan.proto()) : old_model;
  const NewEntries entries = entries_to_append(plan.new_weights(), files);
  ReplaceReport report;
  report.remarks = loaded.remarks;
  plan.add_to(report);
  note_what_stays(loaded, report);
  add_sizes(report, editor, entries, last.size());
  if (options.output.dry_run) return report;
  append(editor, entries, report, options.progress);
  editor.commit(last);
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
  ArchiveEditor editor = open_editor(archive, options);
  const ReplacedFiles files(editor, options);
  const ArchiveEntry entry = editor.archive().entry(editor.archive().size() - 1);
  // Only added names can clash with the model's name among the graphs; removing entries frees names.
  if (!options.add.empty()) files.expect_free_name_of(editor.archive().model(), editor.archive());
  // The model has to be the last entry, so it is appended again after the new files.
  const EntrySource model(editor.archive(), entry);
  const NewEntries entries = entries_to_append({}, files);
  ReplaceReport report;
  add_sizes(report, editor, entries, model.size());
  if (options.output.dry_run) return report;
  append(editor, entries, report, options.progress);
  editor.commit(model);
  return report;
}

}  // namespace onnxar
