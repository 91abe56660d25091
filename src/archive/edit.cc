// Edits an archive in place: appends entries and the model, and writes the new directory.
#include "archive/edit.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/edit_plan.h"
#include "archive/entry_source.h"
#include "archive/entry_uses.h"
#include "archive/entry_writer.h"
#include "archive/graphs.h"
#include "archive/keys.h"
#include "archive/model_proof.h"
#include "archive/opening.h"
#include "archive/output_options.h"
#include "archive/tensor_text.h"
#include "base/annotated.h"
#include "base/mapped_file.h"
#include "base/open_file.h"
#include "base/output_file.h"
#include "base/paths.h"
#include "base/sources.h"
#include "base/text.h"
#include "onnx/sites.h"
#include "onnxar/archive_writer.h"
#include "os/file.h"
#include "zip/layout.h"

namespace onnxar {
namespace {

using base::concat;

[[noreturn]] void refuse_removal(const Archive& archive, const ArchiveEntry& entry, std::size_t end_of_weights) {
  const std::string_view last = archive.entry(end_of_weights - 1).name;
  const std::string where = entry.name == last ? "a tensor of the model or of a graph uses it"
                                               : concat("the weight ", base::quoted(last), " lies after it");
  throw Error(Code::usage_argument,
              concat("it cannot be removed or replaced in place, because ", where, ", and an edit never moves weights"),
              {std::string(entry.name), std::nullopt}, archive.path(), {Hint::pack_anew});
}

/// Refuses a model or graph that links to an entry that this edit moves: the entry would become a weight, and edits
/// never move weights.
void prove_kept(const EditPlan& plan, Bytes model) {
  const Archive& archive = plan.archive();
  onnx::walk_tensors(model, [&](const onnx::TensorSite& site) {
    const auto location = site.tensor.linked_location();
    const auto entry = location ? archive.find(*location) : std::nullopt;
    if (!entry || !plan.moves(entry->index)) return;
    throw Error(
        Code::usage_argument,
        concat(describe(site), ": its data would be in ", base::quoted(entry->name),
               ", which moves because this edit removes an entry before it; remove that entry by a separate edit"),
        {std::string(entry->name), std::nullopt}, archive.path());
  });
}

/// Refuses to replace the model by other bytes if a graph that stays has a tensor whose data is in the old model's
/// bytes: the tensor would silently get other data. A link after a fault of the graph cannot be loaded, so it does no
/// harm.
void prove_graphs_keep_data(const EditPlan& plan, Bytes model) {
  const Archive& archive = plan.archive();
  std::vector<ArchiveEntry> graphs = archive.graphs();
  std::erase_if(graphs, [&plan](const ArchiveEntry& graph) { return plan.is_removed(graph.index); });
  // Compares the bytes themselves, because a CRC-32 can be forged.
  if (graphs.empty() || std::ranges::equal(model, archive.bytes(own_model_entry(archive)))) return;
  EntryUses uses(archive);
  for (const ArchiveEntry& graph : graphs) {
    note_as_far_as_read(uses, archive, graph);
    refuse_use_of_model(uses, archive, graph);
  }
}

}  // namespace

/// Separates planning an edit from writing it, which opens the file for writing in its first step.
struct ArchiveEditor::Edit final : EditSteps {
  Edit(EditPlan plan_of, const EditOptions& how);

  zip::Writer open(const os::File& lock) override;
  /// Appends the moved entries that lie before an entry of this name.
  void prepare(std::string_view name, const std::function<zip::Writer&()>& writer) override;
  [[nodiscard]] std::uint64_t max_model_size() const override { return options.open.max_model_size; }

  /// Refuses the name of an entry that is also that of the archive's file (K8), or that hides a weight (G6).
  void check_name(std::string_view name) const;
  /// Refuses to continue if the path no longer leads to the locked file. A rewritten archive would replace what another
  /// program put there, and appended bytes would go to a file without a name.
  void expect_in_place(const os::File& lock) const;
  [[nodiscard]] zip::Limits limits() const { return {options.open.max_entries, options.open.max_directory_size}; }

  EditOptions options;
  EditPlan plan;
  std::optional<MovedEntries> moved;  // empty until an entry or the model is added
  // As opened, and without symbolic links: links may use either.
  std::array<std::filesystem::path, 2> names_of_file;
};

ArchiveEditor::Edit::Edit(EditPlan plan_of, const EditOptions& how)
    : options(how),
      plan(std::move(plan_of)),
      names_of_file{plan.archive().path(), base::real_path(plan.archive().path())} {
  for (const std::filesystem::path& file : names_of_file) refuse_own_name(plan.archive(), file);
}

void ArchiveEditor::Edit::check_name(std::string_view name) const {
  for (const std::filesystem::path& file : names_of_file) refuse_own_name(name, file);
  plan.check_addition_of(name);
}

void ArchiveEditor::Edit::expect_in_place(const os::File& lock) const {
  const std::filesystem::path& path = plan.archive().path();
  if (base::leads_to(path, lock)) return;
  throw Error(Code::io_changed, "the file was replaced or removed while it was edited; the edit was not made", {},
              path);
}

zip::Writer ArchiveEditor::Edit::open(const os::File& lock) {
  const OutputOptions& output = options.output;
  if (output.dry_run) {
    throw Error(Code::usage_argument, "the archive was opened for a dry run, which writes nothing; open it again");
  }
  plan.check_removals();
  plan.verify_moved();
  const Archive& archive = plan.archive();
  if (plan.kept() == 0) {  // the first entry must begin at 0 (P1), so the file is rewritten
    auto file = base::OutputFile::create(archive.path(), base::Existing::replace, base::duplicate(lock));
    return zip::Writer({std::move(file), output.sync}, output.threads, limits());
  }
  const std::uint64_t size = archive.file().size();
  // A duplicate of the descriptor shares its lock, which flock ties to the open file.
  base::OutputFile tail = base::OutputFile::extend(base::duplicate(lock), archive.path(), size);
  return {{std::move(tail), output.sync, size},
          ArchiveAccess::directory(archive),
          plan.kept_directory(),
          output.threads,
          limits()};
}

void ArchiveEditor::Edit::prepare(std::string_view name, const std::function<zip::Writer&()>& writer) {
  check_name(name);
  if (!moved) moved = plan.moved();
  for (const ArchiveEntry& entry : moved->due_before(name)) {
    writer().add(entry.name, plan.alignment(), EntrySource(plan.archive(), entry));
  }
}

ArchiveEditor ArchiveEditor::open(const std::filesystem::path& path, const EditOptions& options) {
  // A plan needs no right to write, so that `replace -n` works on a read-only archive.
  os::File lock = options.output.dry_run ? lock_for_planning(path) : lock_for_editing(path);
  Archive archive = open_locked(lock, path, options.open);
  // The new model may be made from the old one. A new CRC-32 would hide damage in the old model.
  archive.verify(own_model_entry(archive));
  if (!options.output.dry_run) ArchiveAccess::note_edited_here(archive);
  auto edit = std::make_unique<Edit>(EditPlan(std::move(archive)), options);
  const std::uint64_t alignment = edit->plan.alignment();
  std::filesystem::path target = edit->plan.archive().path();
  return ArchiveEditor(detail::own<detail::EntryState>(std::move(lock), std::move(edit), alignment, std::move(target)));
}

ArchiveEditor::Edit& ArchiveEditor::edit() const { return static_cast<Edit&>(*state().edit); }

const Archive& ArchiveEditor::archive() const& noexcept { return edit().plan.archive(); }

std::size_t ArchiveEditor::kept_entries() const noexcept { return edit().plan.kept(); }

std::uint64_t ArchiveEditor::size_with(EntrySizes entries, std::uint64_t model_size) const {
  const Edit& planned = edit();
  planned.plan.check_removals();
  planned.plan.verify_moved();
  for (const auto& [name, size] : entries) {
    check_reserved(name, {std::string(name), std::nullopt});
    planned.check_name(name);
  }
  state().check_model_size(model_size);
  return planned.plan.size_with(entries, model_size, planned.limits());
}

void ArchiveEditor::remove(std::string_view name) {
  state().step([&] {
    const Place place{std::string(name), std::nullopt};
    EditPlan& plan = edit().plan;
    const bool is_open = state().opened_writer.has_value();
    const ArchiveEntry entry = entry_named(plan.archive(), name);
    if (entry.name == model_entry_name || is_open) {
      throw Error(Code::usage_argument,
                  is_open ? "entries must be removed before space is reserved and the first entry is added"
                          : "the model cannot be removed; the end of the edit replaces it",
                  place);
    }
    if (!plan.removable) plan.removable = EditPlan::removable_in(plan.archive());
    const auto& [end_of_weights, unread] = *plan.removable;
    if (entry.index < end_of_weights) refuse_removal(plan.archive(), entry, end_of_weights);
    if (!unread.contains(entry.index)) plan.check_removal_of(entry);
    plan.remove(entry.index);
  });
}

void ArchiveEditor::commit(Bytes model) { commit(SpanSource(model)); }
void ArchiveEditor::commit(const ByteSource& model) {
  const Edit& planned = edit();
  const bool verify = planned.options.verify_model;
  const auto prove = [&](std::string_view name, Bytes written) {
    if (verify) prove_kept(planned.plan, written);
    // The caller may have proved the new model, but not the graphs that stay.
    if (name != model_entry_name) return;
    prove_graphs_keep_data(planned.plan, written);
    planned.expect_in_place(state().lock);
  };
  const base::Sync sync = sync_of(planned.options.output);
  state().finish(model, sync, sync, {.written = verify, .further = prove});
}

std::uint64_t EditAccess::plan(const ArchiveEditor& editor, std::span<const NewEntry> added, const ByteSource& model) {
  std::vector<std::pair<std::string_view, std::uint64_t>> sizes;
  for (const auto& [name, source] : added) sizes.emplace_back(name, source->size());
  const std::uint64_t size = editor.size_with(sizes, model.size());
  if (!editor.edit().options.verify_model) return size;
  const EditPlan& plan = editor.edit().plan;
  NamedSizes entries = plan.appended(sizes, model.size());
  for (std::size_t i = 0; i < plan.kept(); ++i) {
    entries.emplace_back(plan.archive().entry(i).name, plan.archive().entry(i).size);
  }
  std::ranges::sort(entries);
  const auto prove = [&](std::string_view name, Bytes bytes) {
    prove_written(name, bytes, entries);
    prove_kept(plan, bytes);
  };
  base::annotated(plan.archive().path(), [&] {
    for (const auto& [name, source] : added) {
      if (!is_graph_name(name)) continue;
      const ByteSpan graph = bytes_of_graph(name, *source);
      prove(name, graph.bytes());
    }
    if (const auto bytes = base::in_one_piece(model)) prove(model_entry_name, *bytes);
  });
  return size;
}

}  // namespace onnxar
