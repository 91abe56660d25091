// Lists the entries of an archive and their uses, its metadata and its side files.
#include "onnxar/listing.h"

#include <algorithm>
#include <utility>

#include "archive/access.h"
#include "archive/change_detection.h"
#include "archive/entry_uses.h"
#include "archive/evidence.h"
#include "archive/front_end.h"
#include "archive/graphs.h"
#include "archive/local_entry.h"
#include "archive/opened_input.h"
#include "archive/tensor_text.h"
#include "base/annotated.h"
#include "base/glob.h"
#include "onnx/string_entry.h"
#include "zip/format.h"
#include "zip/layout.h"

namespace onnxar {
namespace {

/// Returns the size of the padding record: the bytes between header and data other than the name and the zip64 sizes.
std::uint64_t padding_of(const ListedEntry& entry, bool zip64) {
  const std::uint64_t before =
      zip::local_file_header_size + entry.name.size() + (zip64 ? zip::local_zip64_extra_size : 0);
  return entry.offset - entry.header_offset - before;
}

/// Returns the contents of an entry's local header. Reads no header if the archive is read in ranges: opening proved
/// that the data is where the directory suggests, or proved the header.
zip::LocalEntry local_of(const Archive& archive, std::size_t index) {
  if (ArchiveAccess::file(archive).is_here()) return local_entry(archive, index);
  return {ArchiveAccess::directory(archive).likely_data_offset(index), 0, false};
}

/// Adds a tensor of `graph` to the entry that has its data.
void add_tensor(Listing& listing, const Archive& archive, std::string_view graph, const onnx::TensorSite& site) {
  const auto location = site.tensor.linked_location();
  const auto entry = location ? archive.find(*location) : std::nullopt;
  // Ignores links that are broken or lead to the model: `check` reports them.
  if (!entry || entry->name == model_entry_name) return;
  ListedEntry& row = listing.entries[entry->index];
  if (row.graphs.empty() || row.graphs.back() != graph) row.graphs.emplace_back(graph);
  if (row.graphs.size() == 1) row.tensors.push_back(info_of(site));
}

/// Adds the tensors that use each entry, and the kind of the entry. A broken graph must not hide the other entries.
void add_uses(Listing& listing, const Archive& archive) {
  EntryUses uses(archive);
  walk_readable_graphs(archive, [&](const ArchiveEntry& graph, const onnx::TensorSite& site) {
    uses.note(site);
    add_tensor(listing, archive, graph.name, site);
  });
  for (std::size_t i = 0; i < listing.entries.size(); ++i) listing.entries[i].kind = uses.kind_of(i);
  listing.model.kind = EntryKind::model;
}

}  // namespace

std::string_view to_string(EntryKind kind) noexcept {
  switch (kind) {
    case EntryKind::weight: return "weight";
    case EntryKind::side_file: return "side file";
    case EntryKind::graph: return "graph";
    case EntryKind::unused: return "unused";
    case EntryKind::model: return "model";
  }
  return "entry";
}

std::vector<ArchiveEntry> entries_of_graphs(const Archive& archive) {
  EntryUses uses(archive);
  for (const ArchiveEntry& graph : all_graphs(archive)) {
    walk_graph(archive, graph, [&](const onnx::TensorSite& site) {
      if (graph.name != model_entry_name) uses.note(site);
    });
  }
  std::vector<ArchiveEntry> entries;
  for (const ArchiveEntry& entry : archive.entries()) {
    if (uses.is_named(entry.index)) entries.push_back(entry);
  }
  return entries;
}

std::vector<std::pair<std::string_view, std::string_view>> metadata(const Archive& archive) {
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  base::annotated(Evidence{.archive = &archive, .graph = archive.model_entry()}, [&] {
    for (const onnx::MetadataEntry& found : onnx::find_metadata(archive.model(), "")) {
      pairs.emplace_back(found.entry.key, found.entry.value);
    }
  });
  return pairs;
}

std::vector<ArchiveEntry> side_files(const Archive& archive) {
  const EntryUses uses = uses_of(archive);
  std::vector<ArchiveEntry> files;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    if (uses.kind_of(i) == EntryKind::side_file) files.push_back(archive.entry(i));
  }
  return files;
}

Listing ls(const std::filesystem::path& path, const LoadOptions& options) {
  return ls(OpenedInput(path, options.open_ranges).archive().graph(options.graph));
}

Listing ls(const Archive& archive) {
  const zip::Directory& directory = ArchiveAccess::directory(archive);
  Listing listing;
  listing.file_size = archive.file().size();
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const ArchiveEntry entry = archive.entry(i);
    const zip::LocalEntry local = local_of(archive, i);
    ListedEntry& row = listing.entries.emplace_back(ListedEntry{std::string(entry.name),
                                                                local.data_offset,
                                                                entry.size,
                                                                entry.crc32,
                                                                local.alignment,
                                                                entry.header_offset,
                                                                0,
                                                                {},
                                                                EntryKind::weight});
    const bool zip64 = zip::needs_zip64_local(entry.size) || local.unneeded_zip64;
    row.padding = padding_of(row, zip64);
    listing.padding_bytes += row.padding;
    // After an edit, superseded entries and directories lie between the data and the next local header.
    listing.unused_bytes += directory.limit_of(i) - local.data_offset - entry.size;
    listing.alignment = i == 0 ? row.alignment : std::min(listing.alignment, row.alignment);
  }
  listing.model = std::move(listing.entries.back());  // the model is the last entry, and has its own member
  listing.entries.pop_back();
  listing.model_name = name_of_model(archive).value_or("");
  add_uses(listing, archive);
  expect_not_cut(archive);  // rows from before and after an undo would describe a file that never existed
  return listing;
}

void keep_matching(Listing& listing, std::string_view pattern) {
  const base::Glob glob(pattern);
  const auto is_named = [&glob](const TensorInfo& tensor) {
    return glob.matches(tensor.name) || glob.matches(tensor.output);
  };
  std::erase_if(listing.entries, [&](const ListedEntry& entry) {
    return !glob.matches(entry.name) && std::ranges::none_of(entry.tensors, is_named);
  });
}

}  // namespace onnxar
