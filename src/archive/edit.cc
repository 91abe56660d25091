#include "onnxar/edit.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "archive/check.h"
#include "archive/inspector.h"
#include "archive/opening.h"
#include "archive/writer_parts.h"
#include "base/extended_files.h"
#include "zip/format.h"

namespace onnxar {

namespace {

/// The N of the archive: what small entries are aligned to.
std::uint64_t small_alignment_of(const Archive& archive) {
  ArchiveEntry smallest = archive.entry(0);
  for (std::size_t i = 1; i < archive.size(); ++i) {
    if (archive.entry(i).size < smallest.size) smallest = archive.entry(i);
  }
  const std::uint64_t recorded = archive.locate(smallest).alignment;
  // Pages are what large entries get if nothing more was asked for.
  const bool by_size = recorded == zip::page_alignment && smallest.size >= zip::page_aligned_from;
  return by_size ? zip::alignment_minimum : recorded;
}

bool has_zip64_end(const Archive& archive) {
  const zip::Directory& directory = ArchiveInspector::directory(archive);
  return directory.offset() + directory.headers().size() + zip::end_record_size != archive.file().size();
}

/// Behind the end of the archive; or to a new file where nothing of the old one is kept, as a first entry is at 0.
zip::Writer writer_for(const Archive& archive, const base::FileDescriptor& file, const EditOptions& options) {
  if (archive.size() == 1) {
    return zip::Writer({base::OutputFile::create(archive.path(), base::Existing::replace), options.sync});
  }
  const std::uint64_t size = archive.file().size();
  base::OutputFile tail = base::OutputFile::extend(file.duplicate(), archive.path(), size);
  return {{std::move(tail), options.sync, size},
          ArchiveInspector::directory(archive),
          has_zip64_end(archive),
          {options.open.max_entries, options.open.max_directory_size}};
}

}  // namespace

ArchiveEditor::ArchiveEditor(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
ArchiveEditor::ArchiveEditor(ArchiveEditor&& other) noexcept = default;
ArchiveEditor& ArchiveEditor::operator=(ArchiveEditor&& other) noexcept = default;
ArchiveEditor::~ArchiveEditor() = default;

ArchiveEditor ArchiveEditor::open(const std::filesystem::path& path, const EditOptions& options) {
  base::FileDescriptor lock = lock_for_editing(path);
  Archive archive = open_locked(lock, path, options.open);
  EntryWriter writer(writer_for(archive, lock, options), small_alignment_of(archive), path);
  return ArchiveEditor(
      std::make_unique<Parts>(Parts{std::move(lock), std::move(archive), std::move(writer),
                                    options.sync ? base::Sync::full : base::Sync::none, options.verify_model}));
}

const Archive& ArchiveEditor::archive() const& noexcept { return parts_->archive; }

std::uint64_t ArchiveEditor::size_with(std::span<const std::pair<std::string_view, std::uint64_t>> names_and_sizes,
                                       std::uint64_t model_size) const {
  parts_->writer.check_model_size(model_size);
  std::vector<std::pair<std::string_view, std::uint64_t>> all(names_and_sizes.begin(), names_and_sizes.end());
  all.emplace_back(model_entry_name, model_size);
  const std::uint64_t begin = parts_->archive.size() == 1 ? 0 : parts_->archive.file().size();
  return zip::file_size(all, parts_->writer.alignment(), begin, parts_->writer.kept());
}

void ArchiveEditor::reserve(std::uint64_t bytes) { parts_->writer.reserve(bytes); }

void ArchiveEditor::add(std::string_view name, Bytes bytes) { add(name, SpanSource(bytes)); }
void ArchiveEditor::add(std::string_view name, const FileRange& range) { parts_->writer.add(name, range); }
void ArchiveEditor::add(std::string_view name, std::uint64_t size, const StreamReader& read) {
  parts_->writer.add(name, size, read);
}
void ArchiveEditor::add(std::string_view name, const ByteSource& source) { parts_->writer.add(name, source); }

void ArchiveEditor::commit(Bytes model) { commit(SpanSource(model)); }

void abandon_edits() noexcept { base::cut_back_extended_files(); }

}  // namespace onnxar
