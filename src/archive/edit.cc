#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "archive/access.h"
#include "archive/edit_plan.h"
#include "archive/entry_source.h"
#include "archive/entry_writer.h"
#include "archive/external_tensor.h"
#include "archive/front_end.h"
#include "archive/graphs.h"
#include "archive/keys.h"
#include "archive/opening.h"
#include "base/checked.h"
#include "base/crc32.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "base/text.h"
#include "onnx/sites.h"
#include "onnxar/archive_writer.h"
#include "os/file.h"
#include "zip/format.h"

namespace onnxar {
namespace {

using base::concat;

[[noreturn]] void refuse_removal_beside(const Archive& archive, const ArchiveEntry& entry, const ArchiveEntry& graph) {
  throw Error(
      Code::usage_argument,
      concat("it cannot be removed or replaced in place, because a tensor of the graph ", base::quoted(graph.name),
             " may use it: that graph cannot be read to its end; remove or replace the graph first"),
      {std::string(entry.name), std::nullopt}, archive.path());
}

[[noreturn]] void refuse_removal(const Archive& archive, const ArchiveEntry& entry, std::size_t end_of_weights) {
  const std::string_view last = archive.entry(end_of_weights - 1).name;
  const std::string where = entry.name == last ? "a tensor of the model or of a graph uses it"
                                               : concat("the weight ", base::quoted(last), " lies after it");
  throw Error(Code::usage_argument,
              concat("it cannot be removed or replaced in place, because ", where, ", and an edit never moves weights"),
              {std::string(entry.name), std::nullopt}, archive.path(), {Hint::pack_anew});
}

bool is_same(const ArchiveEntry& entry, Bytes bytes) {
  return entry.size == bytes.size() && entry.crc32 == base::crc32(0, bytes);
}

/// Refuses a model or graph that links to an entry that this edit moves: the entry would become a weight, and edits
/// never move weights.
void prove_kept(const EditPlan& plan, Bytes model) {
  const Archive& archive = plan.archive();
  onnx::walk_tensors(model, [&](const onnx::TensorSite& site) {
    if (!site.tensor.is_external() || !site.tensor.external.location) return;
    const auto entry = archive.find(*site.tensor.external.location);
    if (!entry || !plan.moves(entry->index)) return;
    throw Error(
        Code::usage_argument,
        concat(describe(site), ": its data would be in ", base::quoted(entry->name),
               ", which moves because this edit removes an entry before it; remove that entry by a separate edit"),
        {std::string(entry->name), std::nullopt}, archive.path());
  });
}

/// Finds what may be removed. The limits are the default ones, as the editor was not given others.
EditPlan::Removable removable_in(const Archive& archive) {
  EntryUses uses(archive);
  const auto note = [&uses](const ArchiveEntry&, const onnx::TensorSite& site) { uses.note(site); };
  auto unread = walk_readable_graphs(archive, {}, note);
  return {uses.end_of_weights(), std::move(unread)};
}

/// Refuses to replace the model if a tensor of a graph that stays has its data in the bytes of the old one: the tensor
/// would get other data silently. A link after a fault of the graph cannot be loaded, so it cannot harm.
void prove_graphs_keep_data(const EditPlan& plan) {
  EntryUses uses(plan.archive());
  for (const ArchiveEntry& graph : plan.archive().graphs()) {
    if (plan.is_removed(graph.index)) continue;
    note_as_far_as_read(uses, plan.archive(), graph, {});
    refuse_use_of_model(uses, plan.archive(), graph);
  }
}

/// Proves the model that completes an edit, or a graph that the edit added.
void prove_edited(const EditPlan& plan, std::string_view name, Bytes written, const EntryWriter::Entries& entries) {
  prove_written(name, written, entries);
  prove_kept(plan, written);
  const Archive& archive = plan.archive();
  const bool is_new_model = name == model_entry_name && !is_same(archive.entry(archive.size() - 1), written);
  if (is_new_model) prove_graphs_keep_data(plan);
}

}  // namespace

/// Planning an edit (`plan`) and writing it (`writer`) are separate: `writer` opens the file for writing in its first
/// step.
struct ArchiveEditor::Parts {
  Parts(os::File lock_of, EditPlan plan_of, const EditOptions& how);

  os::File lock;  // the first member, so that it is released last
  EditOptions options;
  EntryWriter writer;
  EditPlan plan;  // after the writer, so that the archive is not mapped any more when the writer cuts bytes off
  bool has_begun = false;  // whether an entry was added
  enum class Appended : std::uint8_t { nothing, side_files, all };
  Appended appended = Appended::nothing;  // the entries of the run that were appended again

  /// Appends the entries of the run that precede an entry of this name. Errors: as `add`.
  void append_run_before(std::string_view name);

 private:
  [[nodiscard]] zip::Writer open_for_writing() const;
};

ArchiveEditor::ArchiveEditor(detail::Owned<Parts> parts) noexcept : parts_(std::move(parts)) {}

ArchiveEditor::Parts::Parts(os::File lock_of, EditPlan plan_of, const EditOptions& how)
    : lock(std::move(lock_of)),
      options(how),
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

ArchiveEditor ArchiveEditor::open(const std::filesystem::path& path, const EditOptions& options) {
  // A plan needs no right to write, so that `replace -n` works on a read-only archive.
  os::File lock = options.output.dry_run ? lock_for_planning(path) : lock_for_editing(path);
  Archive archive = open_locked(lock, path, options.open);
  return ArchiveEditor(detail::own<Parts>(std::move(lock), EditPlan(std::move(archive)), options));
}

const Archive& ArchiveEditor::archive() const& noexcept { return parts_->plan.archive(); }

std::size_t ArchiveEditor::kept_entries() const noexcept { return parts_->plan.kept(); }

std::uint64_t ArchiveEditor::size_with(EntrySizes entries, std::uint64_t model_size) const {
  parts_->writer.check_model_size(model_size);
  return parts_->plan.size_with(entries, model_size);
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
    if (!plan.removable) plan.removable = removable_in(plan.archive());
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
  if (parts.options.verify_model) prove = std::bind_front(prove_edited, std::cref(parts.plan));
  const base::Sync sync = sync_of(parts.options.output);
  parts.writer.finish("commit", model, sync, sync, prove);
}

void abandon_edits() noexcept { base::cut_back_extended_files(); }

std::string_view mapped_file_at(const void* address) noexcept { return base::mapped_file_at(address); }

namespace {

/// Returns the archive's N (W6), the alignment of its small entries. Nothing in the file records N, so it is taken from
/// the smallest entry.
std::uint64_t small_alignment_of(const Archive& archive) {
  ArchiveEntry smallest = archive.entry(0);
  for (std::size_t i = 1; i < archive.size(); ++i) {
    if (archive.entry(i).size < smallest.size) smallest = archive.entry(i);
  }
  const std::uint64_t recorded = archive.locate(smallest).alignment;
  // An entry with the alignment that its size alone requires does not reveal a larger N (W6).
  const bool by_size = recorded == zip::entry_alignment(zip::alignment_minimum, smallest.size);
  return by_size ? zip::alignment_minimum : recorded;
}

using Sizes = std::vector<std::pair<std::string_view, std::uint64_t>>;

void move_all(Sizes& from, Sizes& to) {
  to.insert(to.end(), from.begin(), from.end());
  from.clear();
}

}  // namespace

EditPlan::EditPlan(Archive archive)
    : archive_(std::move(archive)),
      alignment_(small_alignment_of(archive_)),
      kept_(archive_.size() - 1),
      removed_(archive_.size()) {}

void EditPlan::remove(std::size_t index) {
  removed_[index] = true;
  kept_ = std::min(kept_, index);
}

// The zip64 records lie between the directory and the 22 bytes of the end record; without them nothing does (E8).
bool EditPlan::has_zip64_end() const {
  const zip::Directory& directory = ArchiveAccess::directory(archive_);
  return directory.offset() + directory.headers().size() + zip::end_record_size != archive_.file().size();
}

zip::KeptDirectory EditPlan::kept_directory() const {
  if (kept_ == 0) return {};
  const zip::Directory& directory = ArchiveAccess::directory(archive_);
  const std::uint64_t size = directory.entries()[kept_].central_offset - directory.offset();
  return {directory.headers().first(base::in_memory(size)), kept_, has_zip64_end()};
}

std::uint64_t EditPlan::size_with(std::span<const std::pair<std::string_view, std::uint64_t>> names_and_sizes,
                                  std::uint64_t model_size) const {
  Sizes side_files;
  Sizes graphs;
  for (std::size_t i = kept_; i < archive_.size(); ++i) {
    const ArchiveEntry entry = archive_.entry(i);
    if (moves(i)) (is_graph_name(entry.name) ? graphs : side_files).emplace_back(entry.name, entry.size);
  }
  Sizes all;
  for (const auto& added : names_and_sizes) {  // the order of ArchiveEditor::Parts::append_run_before
    if (!is_identifier(added.first)) move_all(side_files, all);
    if (is_graph_name(added.first)) move_all(graphs, all);
    all.push_back(added);
  }
  move_all(side_files, all);
  move_all(graphs, all);
  all.emplace_back(model_entry_name, model_size);
  // If no entry stays in place, the archive is written anew, because its first entry has to begin at offset 0 (P1).
  return zip::file_size(all, alignment_, kept_ == 0 ? 0 : archive_.file().size(), kept_directory());
}

}  // namespace onnxar
