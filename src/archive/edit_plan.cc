// Plans an edit: which entries it keeps, moves and removes, and the size of the file.
#include "archive/edit_plan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "archive/access.h"
#include "archive/entry_uses.h"
#include "archive/graph_rules.h"
#include "archive/graphs.h"
#include "archive/keys.h"
#include "base/annotated.h"
#include "base/checked.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "zip/directory.h"
#include "zip/format.h"
#include "zip/name_index.h"

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

/// True if the CRC-32 of the entry is right. The links of a damaged graph may have named other entries.
bool is_intact(const Archive& archive, const ArchiveEntry& entry) {
  try {
    archive.verify(entry);
    return true;
  } catch (const Error& error) {
    if (kind(error.code()) != Kind::format) throw;
    return false;
  }
}

}  // namespace

MovedEntries::MovedEntries(std::vector<ArchiveEntry> side_files, const std::vector<ArchiveEntry>& graphs)
    : entries_(std::move(side_files)), side_files_(entries_.size()) {
  entries_.insert(entries_.end(), graphs.begin(), graphs.end());
}

std::span<const ArchiveEntry> MovedEntries::due_before(std::string_view name) {
  const std::size_t begin = due_;
  due_ = std::max(begin, end_before(name));
  return std::span(entries_).subspan(begin, due_ - begin);
}

// Weights precede side files, and these precede graphs. The model is the last entry.
std::size_t MovedEntries::end_before(std::string_view name) const {
  if (name == model_entry_name || is_graph_name(name)) return entries_.size();
  return is_key(name) ? 0 : side_files_;
}

EditPlan::EditPlan(Archive archive)
    : archive_(std::move(archive)),
      alignment_(small_alignment_of(archive_)),
      kept_(archive_.size() - 1),
      removed_(archive_.size()),
      verified_from_(archive_.size()) {}

EditPlan::Removable EditPlan::removable_in(const Archive& archive) {
  EntryUses uses(archive);
  const auto note = [&uses](const ArchiveEntry&, const onnx::TensorSite& site) { uses.note(site); };
  const std::vector<std::size_t> broken = walk_readable_graphs(archive, note);
  std::set<std::size_t> unread(broken.begin(), broken.end());
  for (const ArchiveEntry& graph : archive.graphs()) {
    if (!is_intact(archive, graph)) unread.insert(graph.index);
  }
  return {uses.end_of_weights(), std::move(unread)};
}

void EditPlan::remove(std::size_t index) {
  hiding_names_.reset();
  removed_[index] = true;
  kept_ = std::min(kept_, index);
  if (removable) removable->unread.erase(index);
}

void EditPlan::check_removal_of(const ArchiveEntry& entry) const {
  if (!removable || removable->unread.empty()) return;
  const std::string_view graph = archive_.entry(*removable->unread.begin()).name;
  throw Error(Code::usage_argument,
              base::concat("it cannot be removed or replaced in place, because a tensor of the graph ",
                           base::quoted(graph), " may use it: that graph is damaged or cannot be read to its end; ",
                           "remove or replace that graph first"),
              {std::string(entry.name), std::nullopt}, archive_.path());
}

void EditPlan::check_removals() const {
  if (kept_ + 1 < archive_.size()) check_removal_of(archive_.entry(kept_));
}

void EditPlan::check_addition_of(std::string_view name) const {
  bool is_candidate = false;  // the name without its leading folders is an entry that a graph there may name
  for (std::size_t slash = name.find('/'); slash != std::string_view::npos; slash = name.find('/', slash + 1))
    is_candidate = is_candidate || archive_.find(name.substr(slash + 1)).has_value();
  if (!is_candidate) return;
  if (!hiding_names_) hiding_names_ = hiding_names();
  const auto found = hiding_names_->find(std::string(name));
  if (found == hiding_names_->end()) return;
  const std::string_view graph = found->second;
  throw base::annotate(shadow_error(name, name.substr(folder_of_name(graph).size()), 0),
                       {.prefix = base::concat("the graph ", base::quoted(graph)),
                        .place = Place{std::string(name), {}},
                        .path = archive_.path()});
}

std::map<std::string, std::string_view> EditPlan::hiding_names() const {
  std::map<std::string, std::string_view> names;
  for (const ArchiveEntry& graph : archive_.graphs()) {
    if (removed_[graph.index] || folder_of_name(graph.name).empty()) continue;
    walk_as_far_as_read(archive_, graph, [&](const onnx::TensorSite& site) {
      const auto location = site.tensor.linked_location();
      if (location) names.try_emplace(name_beside(graph.name, *location), graph.name);
    });
  }
  return names;
}

bool EditPlan::moves(std::size_t index) const {
  return index >= kept_ && index + 1 < archive_.size() && !removed_[index];
}

void EditPlan::verify_moved() const {
  for (std::size_t i = kept_; i < verified_from_; ++i) {
    if (moves(i)) archive_.verify(archive_.entry(i));
  }
  verified_from_ = std::min(verified_from_, kept_);
}

MovedEntries EditPlan::moved() const {
  std::vector<ArchiveEntry> side_files, graphs;
  for (std::size_t i = kept_; i < archive_.size(); ++i) {
    const ArchiveEntry entry = archive_.entry(i);
    if (moves(i)) (is_graph_name(entry.name) ? graphs : side_files).push_back(entry);
  }
  return {std::move(side_files), graphs};
}

zip::KeptDirectory EditPlan::kept_directory() const {
  if (kept_ == 0) return {};
  const zip::Directory& directory = ArchiveAccess::directory(archive_);
  const std::uint64_t size = directory.entries()[kept_].central_offset - directory.offset();
  return {directory.headers().first(base::in_memory(size)), kept_, directory.zip64()};
}

NamedSizes EditPlan::appended(EntrySizes added, std::uint64_t model_size) const {
  NamedSizes all;
  MovedEntries run = moved();
  const auto append = [&](std::string_view name, std::uint64_t size) {
    for (const ArchiveEntry& entry : run.due_before(name)) all.emplace_back(entry.name, entry.size);
    all.emplace_back(name, size);
  };
  for (const auto& [name, size] : added) append(name, size);
  append(model_entry_name, model_size);
  return all;
}

std::uint64_t EditPlan::size_with(EntrySizes added, std::uint64_t model_size, const zip::Limits& limits) const {
  const NamedSizes all = appended(added, model_size);
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kept_; ++i) names.push_back(archive_.entry(i).name);
  for (const auto& [name, size] : all) names.push_back(name);
  zip::prove_new_names(names, kept_);
  // If no entry stays in place, the archive is rewritten, because its first entry must begin at offset 0 (P1).
  return zip::file_size(all, alignment_, kept_ == 0 ? 0 : archive_.file().size(), kept_directory(), limits);
}

}  // namespace onnxar
