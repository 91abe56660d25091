#include "onnxar/edit.h"

#include <algorithm>
#include <utility>

#include "archive/access.h"
#include "archive/entry_source.h"
#include "archive/keys.h"
#include "archive/opening.h"
#include "archive/writer_parts.h"
#include "base/extended_files.h"

namespace onnxar {

ArchiveEditor::ArchiveEditor(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
ArchiveEditor::ArchiveEditor(ArchiveEditor&& other) noexcept = default;
ArchiveEditor& ArchiveEditor::operator=(ArchiveEditor&& other) noexcept = default;
ArchiveEditor::~ArchiveEditor() = default;

ArchiveEditor::Parts::Parts(os::File lock_of, Archive archive, const EditOptions& how)
    : lock(std::move(lock_of)),
      options(how),
      plan(std::move(archive)),
      writer([this] { return open_for_writing(); }, plan.alignment(), plan.archive().path()) {}

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
  for (std::size_t i = plan.kept(); i + 1 < archive.size(); ++i) {
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
  return ArchiveEditor(std::make_unique<Parts>(std::move(lock), std::move(archive), options));
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

void ArchiveEditor::commit(Bytes model) { commit(SpanSource(model)); }

void abandon_edits() noexcept { base::cut_back_extended_files(); }

}  // namespace onnxar
