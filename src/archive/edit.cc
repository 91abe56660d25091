#include "onnxar/edit.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "archive/access.h"
#include "archive/entry_source.h"
#include "archive/keys.h"
#include "archive/opening.h"
#include "archive/output_options.h"
#include "archive/writer_parts.h"
#include "base/file_origin.h"
#include "base/output_file.h"
#include "base/text.h"

namespace onnxar {
namespace {

[[noreturn]] void refuse_removal_beside(const Archive& archive, const ArchiveEntry& entry, const ArchiveEntry& graph) {
  throw Error(Code::usage_argument,
              base::concat("it cannot be removed or replaced in place, because a tensor of the graph ",
                           base::quoted(graph.name),
                           " may use it: that graph cannot be read to its end; remove or replace the graph first"),
              {std::string(entry.name), std::nullopt}, archive.path());
}

[[noreturn]] void refuse_removal(const Archive& archive, const ArchiveEntry& entry, std::size_t end_of_weights) {
  const std::string_view last = archive.entry(end_of_weights - 1).name;
  const std::string where = entry.name == last ? "a tensor of the model or of a graph uses it"
                                               : base::concat("the weight ", base::quoted(last), " lies after it");
  throw Error(
      Code::usage_argument,
      base::concat("it cannot be removed or replaced in place, because ", where, ", and an edit never moves weights"),
      {std::string(entry.name), std::nullopt}, archive.path(), {Hint::pack_anew});
}

}  // namespace

ArchiveEditor::ArchiveEditor(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
ArchiveEditor::ArchiveEditor(ArchiveEditor&& other) noexcept = default;
ArchiveEditor& ArchiveEditor::operator=(ArchiveEditor&& other) noexcept = default;
ArchiveEditor::~ArchiveEditor() = default;

ArchiveEditor::Parts::Parts(os::File lock_of, EditPlan plan_of, const EditOptions& how, EditRules rules_of)
    : lock(std::move(lock_of)),
      options(how),
      rules(std::move(rules_of)),
      writer([this] { return open_for_writing(); }, plan_of.alignment(), plan_of.archive().path()),
      plan(std::move(plan_of)) {}

zip::Writer ArchiveEditor::Parts::open_for_writing() const {
  const OutputOptions& output = options.output;
  if (output.dry_run) {
    throw Error(Code::usage_argument, "the archive was opened for a dry run, which writes nothing; open it anew");
  }
  const Archive& archive = plan.archive();
  if (plan.kept() == 0) {  // the first entry has to begin at 0 (P1), so the file is written anew
    auto file = base::OutputFile::create(archive.path(), base::Existing::replace);
    return zip::Writer({std::move(file), output.sync}, output.threads);
  }
  const std::uint64_t size = archive.file().size();
  // A duplicate of the descriptor shares its lock, which flock ties to the open file.
  base::OutputFile tail = base::OutputFile::extend(base::duplicate(lock), archive.path(), size);
  return {{std::move(tail), output.sync, size},
          ArchiveAccess::directory(archive),
          plan.kept_directory(),
          {options.open.max_entries, options.open.max_directory_size},
          output.threads};
}

void ArchiveEditor::Parts::append_run_before(std::string_view name) {
  has_begun = true;
  // Weights precede side files, and these precede graphs. So a weight is added before the entries of the run.
  if (is_identifier(name) && name != model_entry_name) return;
  const Archive& archive = plan.archive();
  const bool with_graphs = name == model_entry_name || is_graph_name(name);
  for (std::size_t i = plan.kept(); i < archive.size(); ++i) {  // the model does not move
    const ArchiveEntry entry = archive.entry(i);
    const bool is_graph = is_graph_name(entry.name);
    const bool is_due = is_graph ? with_graphs && appended != Appended::all : appended == Appended::nothing;
    if (is_due && plan.moves(i)) writer.add(entry.name, EntrySource(archive, entry));
  }
  appended = with_graphs ? Appended::all : std::max(appended, Appended::side_files);
}

std::unique_ptr<ArchiveEditor::Parts> ArchiveEditor::Parts::open(const std::filesystem::path& path,
                                                                 const EditOptions& options, EditRules rules) {
  // A plan needs no right to write, so that `replace -n` works on a read-only archive.
  os::File lock = options.output.dry_run ? lock_for_planning(path) : lock_for_editing(path);
  Archive archive = open_locked(lock, path, options.open);
  return std::make_unique<Parts>(std::move(lock), EditPlan(std::move(archive)), options, std::move(rules));
}

const Archive& ArchiveEditor::archive() const& noexcept { return parts_->plan.archive(); }

std::size_t ArchiveEditor::kept_entries() const noexcept { return parts_->plan.kept(); }

std::uint64_t ArchiveEditor::size_with(std::span<const std::pair<std::string_view, std::uint64_t>> names_and_sizes,
                                       std::uint64_t model_size) const {
  parts_->writer.check_model_size(model_size);
  return parts_->plan.size_with(names_and_sizes, model_size);
}

void ArchiveEditor::reserve(std::uint64_t bytes) { parts_->writer.reserve(bytes); }

void ArchiveEditor::add(std::string_view name, Bytes bytes) { add(name, SpanSource(bytes)); }
void ArchiveEditor::add(std::string_view name, const FileRange& range) {
  parts_->append_run_before(name);
  parts_->writer.add(name, range);
}
void ArchiveEditor::add(std::string_view name, std::uint64_t size, const StreamReader& read) {
  parts_->append_run_before(name);
  parts_->writer.add(name, size, read);
}
void ArchiveEditor::add(std::string_view name, const ByteSource& source) {
  parts_->append_run_before(name);
  parts_->writer.add(name, source);
}

void ArchiveEditor::remove(std::string_view name) {
  Parts& parts = *parts_;
  parts.writer.attempt("remove", [&] {
    const Place place{std::string(name), std::nullopt};
    EditPlan& plan = parts.plan;
    const auto entry = plan.archive().find(name);
    if (!entry) throw Error(Code::usage_no_such_entry, "the archive has no such entry", place);
    if (entry->name == model_entry_name || parts.has_begun) {
      throw Error(Code::usage_argument,
                  parts.has_begun ? "`remove` must be called before the first `add`"
                                  : "the model cannot be removed; `commit` replaces it",
                  place);
    }
    if (!plan.removable) plan.removable = parts.rules.removable_in(plan.archive());
    const auto& [end_of_weights, unread] = *plan.removable;
    if (entry->index < end_of_weights) refuse_removal(plan.archive(), *entry, end_of_weights);
    for (const std::size_t graph : unread) {
      if (graph == entry->index || plan.is_removed(graph)) continue;
      refuse_removal_beside(plan.archive(), *entry, plan.archive().entry(graph));
    }
    plan.remove(entry->index);
  });
}

void ArchiveEditor::commit(Bytes model) { commit(SpanSource(model)); }
void ArchiveEditor::commit(const ByteSource& model) {
  Parts& parts = *parts_;
  parts.append_run_before(model_entry_name);
  EntryWriter::ProveModel prove;
  if (parts.rules.prove) prove = std::bind_front(parts.rules.prove, std::cref(parts.plan));
  const base::Sync sync = sync_of(parts.options.output);
  parts.writer.finish("commit", model, sync, sync, prove);
}

void abandon_edits() noexcept { base::cut_back_extended_files(); }

std::string_view mapped_file_at(const void* address) noexcept { return base::mapped_file_at(address); }

}  // namespace onnxar
