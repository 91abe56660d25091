// Maps the bytes of the files of a model.
#include "inspect/file_map.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/front_end.h"
#include "base/kept.h"
#include "convert/model_source.h"
#include "convert/open.h"
#include "inspect/inspection.h"
#include "inspect/tensor_sums.h"
#include "onnx/external_data.h"
#include "onnx/sites.h"
#include "onnxar/listing.h"
#include "os/file.h"
#include "os/names.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;

std::uint64_t end_of(const FileBlock& block) { return block.offset + block.size; }
std::uint64_t end_of(const FileMap& map) { return map.blocks.empty() ? 0 : end_of(map.blocks.back()); }

/// Adds a block from the end of the last one to `end`, unless it would be empty. All blocks are added here, so they
/// cover the file without gaps, even if tensors overlap.
void append(FileMap& map, BlockKind kind, std::uint64_t end, const std::string& name,
            DataType type = DataType::undefined) {
  const std::uint64_t begin = end_of(map);
  if (end > begin) map.blocks.push_back({kind, begin, end - begin, type, name});
}

/// Returns the file's size, or 0 if it cannot be read: a summary of a model must not fail because of that.
std::uint64_t size_of(const fs::path& path) {
  std::error_code failed;
  const os::FileStatus status = os::status_of(path, failed);
  return failed ? 0 : status.size;
}

/// Returns the first tensor's name and the number of others: tied weights share an entry. Users know names of tensors
/// better than keys.
std::string name_of(const ListedEntry& entry) {
  if (entry.tensors.empty()) return entry.name;
  const std::string& name = entry.tensors.front().name;
  const std::size_t others = entry.tensors.size() - 1;
  return (name.empty() ? entry.name : name) + (others == 0 ? "" : " and " + std::to_string(others) + " more");
}

/// Adds the header of an entry and its padding. Bytes before the header are left over from an edit.
void append_entry(FileMap& map, const ListedEntry& entry) {
  append(map, BlockKind::unused, entry.header_offset, "earlier state of the model");
  append(map, BlockKind::header, entry.offset - entry.padding, "header of " + entry.name);
  append(map, BlockKind::padding, entry.offset, "padding");
}

/// Gathers the tensors of a model, and then maps its files: blocks that state the purpose of each byte.
class FileMapper {
 public:
  /// `path` is the file that `source` was opened from.
  FileMapper(base::Kept<const std::filesystem::path> path, base::Kept<const ModelSource> source,
             base::Kept<const LoadOptions> options)
      : path_(path), source_(source), options_(options) {}

  void add(const onnx::TensorSite& site) {
    const onnx::TensorView& tensor = site.tensor;
    if (tensor.is_external()) {
      add_link(site);
      return;
    }
    const std::string name(tensor.name);
    if (tensor.raw_data) {
      inline_.push_back({BlockKind::data, tensor.raw_data->begin, tensor.raw_data->size(), tensor.type, name});
    } else if (tensor.typed_data) {
      // Typed values may be split over several fields, so the whole message counts as data.
      inline_.push_back({BlockKind::data, tensor.range.begin, tensor.range.size(), tensor.type, name});
    }
  }

  /// Returns the map of the model's file, then those of its data files by name. Sums up their blocks in the storage of
  /// `inspection`, and lists its graphs. Throws what `ls` throws.
  std::vector<FileMap> finish(Inspection& inspection) && {
    StorageSummary& storage = inspection.storage;
    std::vector<FileMap> files;
    storage.model_bytes = source_.model().size();
    for (const FileBlock& block : inline_) storage.inline_bytes += block.size;
    if (archive_of(source_) != nullptr) {
      files.push_back(map_of_archive(storage, inspection.graphs));
    } else {
      FileMap& map = files.emplace_back(FileMap{path_, false, size_of(path_), {}});
      if (!source_.graph().begin) inline_.clear();  // their offsets are in the parsed bytes, not in the text
      append_model(map, 0, map.size);
    }
    storage.file_bytes = files.front().size;
    for (auto& [location, slices] : slices_) files.push_back(map_of_data_file(location, slices, storage));
    return files;
  }

 private:
  void add_link(const onnx::TensorSite& site) {
    if (archive_of(source_) != nullptr) return;  // map_of_archive gets the entries from the listing
    const onnx::TensorView& tensor = site.tensor;
    const onnx::ExternalSlice slice = onnx::parse_external_data(tensor.external, tensor.range.begin);
    const std::uint64_t size = slice.length.value_or(tensor.expected_size().value_or(0));
    slices_[slice.location].push_back({BlockKind::data, slice.offset, size, tensor.type, std::string(tensor.name)});
  }

  FileMap map_of_archive(StorageSummary& storage, std::vector<GraphTotals>& graphs) {
    const Listing listing = ls(path_, options_);
    FileMap map{path_, false, listing.file_size, {}};
    storage.unused_bytes = listing.unused_bytes;
    storage.padding_bytes = listing.padding_bytes;
    for (const ListedEntry& entry : listing.entries) {
      append_entry(map, entry);
      const bool is_leftover = entry.kind == EntryKind::unused;
      append(map, is_leftover ? BlockKind::unused : BlockKind::data, entry.offset + entry.size, name_of(entry),
             entry.tensors.empty() ? DataType::undefined : entry.tensors.front().type);
      bytes_of(entry.kind, storage) += entry.size;
    }
    graphs = totals_of_graphs(*archive_of(source_), listing);
    // Every archive has the model as its last entry.
    append_entry(map, listing.model);
    append_model(map, listing.model.offset, listing.model.size);
    append(map, BlockKind::header, listing.file_size, "directory");
    return map;
  }

  static std::uint64_t& bytes_of(EntryKind kind, StorageSummary& storage) {
    switch (kind) {
      case EntryKind::weight: return storage.archived_bytes;
      case EntryKind::graph: return storage.graph_bytes;
      case EntryKind::unused: return storage.unused_bytes;
      case EntryKind::side_file:
      case EntryKind::model: break;
    }
    return storage.side_bytes;
  }

  FileMap map_of_data_file(const std::string& location, std::vector<FileBlock>& slices, StorageSummary& storage) const {
    constexpr std::uint64_t largest_padding = 65536;  // the largest usual alignment, Windows' allocation granularity
    const ExternalFiles* files = files_of(source_);   // null for a model in memory
    const auto file_size = files != nullptr ? files->size_of(location) : std::nullopt;
    FileMap map{files != nullptr ? files->folder() / os::path_of(location) : os::path_of(location),
                !file_size,
                file_size.value_or(0),
                {}};
    // `append` covers a file from front to back. If tensors share bytes, the block has the name of the first one in the
    // model.
    std::ranges::stable_sort(slices, {}, &FileBlock::offset);
    for (const FileBlock& slice : slices) {
      // A link may state any range, also beyond the file's end.
      const std::uint64_t room = slice.offset < map.size ? map.size - slice.offset : 0;
      // If a link has no length, and the tensor's shape does not determine the size, it extends to the end of the file.
      const std::uint64_t size = slice.size == 0 ? room : std::min(slice.size, room);
      if (size == 0) continue;
      const std::uint64_t before = end_of(map);
      const bool is_padding = slice.offset > before && slice.offset - before < largest_padding;
      append(map, is_padding ? BlockKind::padding : BlockKind::unused, slice.offset, is_padding ? "padding" : "unused");
      append(map, BlockKind::data, slice.offset + size, slice.name, slice.type);
    }
    append(map, BlockKind::unused, map.size, "unused");
    for (const FileBlock& block : map.blocks) {
      if (block.kind == BlockKind::data) storage.external_bytes += block.size;
      if (block.kind == BlockKind::padding) storage.padding_bytes += block.size;
      if (block.kind == BlockKind::unused) storage.unused_bytes += block.size;
    }
    return map;
  }

  void append_model(FileMap& map, std::uint64_t offset, std::uint64_t size) {
    // Protobuf accepts fields in any order, so the walk need not meet tensors in the order of the file.
    std::ranges::sort(inline_, {}, &FileBlock::offset);
    for (const FileBlock& block : inline_) {
      append(map, BlockKind::graph, offset + block.offset, "graph");
      append(map, BlockKind::data, offset + end_of(block), block.name, block.type);
    }
    append(map, BlockKind::graph, offset + size, "graph");
  }

  const std::filesystem::path& path_;
  const ModelSource& source_;
  const LoadOptions& options_;
  std::vector<FileBlock> inline_;                         // offsets from the first byte of the model
  std::map<std::string, std::vector<FileBlock>> slices_;  // by location; size 0 means to the end
};

}  // namespace

std::string_view to_string(BlockKind kind) noexcept {
  switch (kind) {
    case BlockKind::data: return "data";
    case BlockKind::graph: return "graph";
    case BlockKind::header: return "header";
    case BlockKind::padding: return "padding";
    case BlockKind::unused: return "unused";
  }
  return "";
}

void add_tensors(Inspection& inspection, const std::filesystem::path& path, const ModelSource& source,
                 const schema::ModelProto& proto, const InspectOptions& options) {
  TensorSums sums(inspection, proto);
  FileMapper mapper(path, source, options.load);
  // The wire format gives each tensor the range of bytes that the map needs; parsed messages have none.
  onnx::walk_tensors(source.model(), [&](const onnx::TensorSite& site) {
    sums.add_tensor(site);
    mapper.add(site);
  });
  sums.finish();
  std::vector<FileMap> files = std::move(mapper).finish(inspection);
  if (options.files) inspection.files = std::move(files);
}

}  // namespace onnxar
