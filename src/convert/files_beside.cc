// Finds data files beside added graphs whose names are also names of entries of the archive.
#include "convert/files_beside.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "archive/entry_source.h"
#include "archive/entry_writer.h"
#include "archive/keys.h"
#include "archive/model_proof.h"
#include "base/keyed_hash.h"
#include "base/paths.h"
#include "base/sources.h"
#include "base/text.h"
#include "convert/open.h"
#include "onnx/sites.h"
#include "onnxar/error.h"
#include "os/names.h"

namespace onnxar {

std::vector<FileBeside> files_beside(const AddedFile& graph, Bytes bytes) {
  std::vector<FileBeside> found;
  if (graph.path.empty() || graph.source) return found;
  const std::filesystem::path folder = base::folder_of(graph.path);
  base::KeyedSet<std::string> seen;
  std::optional<ExternalFiles> files;
  const auto note = [&](const onnx::TensorSite& site) {
    const auto linked = site.tensor.linked_location();
    if (!linked) return;
    std::string location(*linked);
    std::error_code failed;
    const std::filesystem::path path = folder / os::path_of(location);
    if (!seen.insert(location).second || location_fault(location)) return;
    if (!std::filesystem::is_regular_file(path, failed)) return;
    if (!files) files.emplace(graph.path, std::filesystem::path());
    const auto file = files->map(location, site.tensor.range.begin);
    auto source = payload_of(ByteSpan::borrow(file->bytes(), file), file->origin()).source;
    found.push_back({graph.name, std::move(location), path, std::move(source)});
  };
  try {
    onnx::walk_tensors(bytes, note);
  } catch (const Error& error) {
    if (kind(error.code()) != Kind::format || error.code() == Code::onnx_external_outside)
      throw error.with_path(graph.path);
    found.clear();  // the writer refuses a graph that cannot be read
  }
  return found;
}

void expect_one_meaning(const FileBeside& file, const ByteSource& entry) {
  const auto bytes = base::in_one_piece(*file.source);
  if (entry.size() == file.source->size() && (!bytes || base::has_bytes(entry, *bytes))) return;
  throw Error(Code::usage_argument,
              base::concat("the added graph refers to ", base::quoted(file.location),
                           ", which is a file beside it and also an entry of the archive, with other bytes: to use the "
                           "entry, move the file away; to use the file, `pack` the graph as a further model"),
              {file.graph, std::nullopt}, file.path);
}

void expect_one_meaning(const std::vector<AddedFile>& files, const std::vector<SideFile>& entries,
                        const Archive& archive) {
  for (const AddedFile& file : files) {
    if (!is_graph_name(file.name)) continue;
    const auto graph = std::ranges::find(entries, file.name, &SideFile::name);
    const ByteSpan bytes = bytes_of_graph(file.name, *graph->source);
    for (const FileBeside& beside : files_beside(file, bytes.bytes())) {
      const auto added = std::ranges::find(entries, beside.location, &SideFile::name);
      const auto entry = archive.find(beside.location);
      if (added != entries.end()) {
        expect_one_meaning(beside, *added->source);
      } else if (entry) {
        expect_one_meaning(beside, EntrySource(archive, *entry));
      }
    }
  }
}

}  // namespace onnxar
