#include "archive/edit_plan.h"

#include <algorithm>

#include "archive/access.h"
#include "archive/keys.h"
#include "base/checked.h"
#include "zip/format.h"

namespace onnxar {
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
