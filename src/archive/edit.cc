#include "onnxar/edit.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/check.h"
#include "archive/entry_source.h"
#include "archive/keys.h"
#include "archive/opening.h"
#include "archive/writer_parts.h"
#include "base/extended_files.h"
#include "zip/format.h"

namespace onnxar {

namespace {

/// The archive's N (W6): the alignment of its small entries.
std::uint64_t small_alignment_of(const Archive& archive) {
  ArchiveEntry smallest = archive.entry(0);
  for (std::size_t i = 1; i < archive.size(); ++i) {
    if (archive.entry(i).size < smallest.size) smallest = archive.entry(i);
  }
  const std::uint64_t recorded = archive.locate(smallest).alignment;
  // If even the smallest entry is large, its page alignment says nothing about N (W6).
  const bool by_size = recorded == zip::entry_alignment(zip::alignment_minimum, smallest.size);
  return by_size ? zip::alignment_minimum : recorded;
}

bool has_zip64_end(const Archive& archive) {
  const zip::Directory& directory = ArchiveAccess::directory(archive);
  return directory.offset() + directory.headers().size() + zip::end_record_size != archive.file().size();
}

/// After the end of the archive; or to a new file where nothing of the old one is kept, as a first entry is at 0.
zip::Writer writer_for(const Archive& archive, const os::File& file, std::size_t kept, const EditOptions& options) {
  const OutputOptions& output = options.output;
  if (kept == 0)
    return zip::Writer({base::OutputFile::create(archive.path(), base::Existing::replace), output.sync},
                       output.threads);
  const std::uint64_t size = archive.file().size();
  base::OutputFile tail = base::OutputFile::extend(base::duplicate(file), archive.path(), size);
  return {{std::move(tail), output.sync, size},
          ArchiveAccess::directory(archive),
          kept,
          has_zip64_end(archive),
          {options.open.max_entries, options.open.max_directory_size},
          output.threads};
}

using Sizes = std::vector<std::pair<std::string_view, std::uint64_t>>;

void move_all(Sizes& from, Sizes& to) {
  to.insert(to.end(), from.begin(), from.end());
  from.clear();
}

}  // namespace

ArchiveEditor::ArchiveEditor(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
ArchiveEditor::ArchiveEditor(ArchiveEditor&& other) noexcept = default;
ArchiveEditor& ArchiveEditor::operator=(ArchiveEditor&& other) noexcept = default;
ArchiveEditor::~ArchiveEditor() = default;

void ArchiveEditor::Parts::settle() {
  if (is_settled) return;
  writer.attempt("remove", [this] { writer.restart(writer_for(archive, lock, kept, options)); });
  is_settled = true;
}

void ArchiveEditor::Parts::append_run_before(std::string_view name) {
  settle();
  has_begun = true;
  if (is_identifier(name) && name != model_entry_name) return;
  const bool with_graphs = name == model_entry_name || is_graph_name(name);
  for (std::size_t i = kept; i + 1 < archive.size(); ++i) {
    const ArchiveEntry entry = archive.entry(i);
    const bool is_graph = is_graph_name(entry.name);
    const bool is_due = is_graph ? with_graphs && appended != Appended::all : appended == Appended::nothing;
    if (is_due && moves(i)) writer.add(entry.name, EntrySource(archive, entry));
  }
  appended = with_graphs ? Appended::all : std::max(appended, Appended::side_files);
}

ArchiveEditor ArchiveEditor::open(const std::filesystem::path& path, const EditOptions& options) {
  refuse_dry_run(options.output);
  os::File lock = lock_for_editing(path);
  Archive archive = open_locked(lock, path, options.open);
  const std::size_t kept = archive.size() - 1;
  EntryWriter writer(writer_for(archive, lock, kept, options), small_alignment_of(archive), path);
  std::vector<bool> removed(archive.size());
  return ArchiveEditor(std::make_unique<Parts>(
      Parts{std::move(lock), std::move(archive), std::move(writer), options, kept, std::move(removed), {}}));
}

const Archive& ArchiveEditor::archive() const& noexcept { return parts_->archive; }

std::size_t ArchiveEditor::kept_entries() const noexcept { return parts_->kept; }

std::uint64_t ArchiveEditor::size_with(std::span<const std::pair<std::string_view, std::uint64_t>> names_and_sizes,
                                       std::uint64_t model_size) const {
  const Parts& parts = *parts_;
  parts.writer.check_model_size(model_size);
  parts_->settle();
  Sizes side_files;
  Sizes graphs;
  for (std::size_t i = parts.kept; i < parts.archive.size(); ++i) {
    const ArchiveEntry entry = parts.archive.entry(i);
    if (parts.moves(i)) (is_graph_name(entry.name) ? graphs : side_files).emplace_back(entry.name, entry.size);
  }
  Sizes all;
  for (const auto& added : names_and_sizes) {  // as append_run_before has it
    if (!is_identifier(added.first)) move_all(side_files, all);
    if (is_graph_name(added.first)) move_all(graphs, all);
    all.push_back(added);
  }
  move_all(side_files, all);
  move_all(graphs, all);
  all.emplace_back(model_entry_name, model_size);
  const std::uint64_t begin = parts.kept == 0 ? 0 : parts.archive.file().size();
  return zip::file_size(all, parts.writer.alignment(), begin, parts.writer.kept());
}

void ArchiveEditor::reserve(std::uint64_t bytes) {
  parts_->settle();
  parts_->writer.reserve(bytes);
}

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
