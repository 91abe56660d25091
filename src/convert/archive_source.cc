// Finds the data of a model in the archive that contains the model.
#include "convert/archive_source.h"

#include <memory>
#include <string>
#include <utility>

#include "archive/access.h"
#include "archive/entry_uses.h"
#include "archive/external_tensor.h"
#include "archive/graphs.h"
#include "base/byte_range.h"
#include "convert/package_files.h"

namespace onnxar {

ArchiveSource::ArchiveSource(Archive archive, const LoadOptions& options, std::vector<ArchiveEntry> chosen)
    : ModelSource(options, archive.path()),
      archive_(std::move(archive)),
      payloads_(options),
      uses_(archive_),
      chosen_(std::move(chosen)) {
  select({});
}

void ArchiveSource::select(const std::string& graph) {
  set_graph(graph_of(graph.empty() ? archive_.model_entry() : *find_graph(archive_, graph)));
}

GraphBytes ArchiveSource::graph_of(const ArchiveEntry& entry) const {
  const std::string name(entry.name);
  if (options().verify_data && ArchiveAccess::reader(archive_).may_change(entry.index)) {
    // An undo may cut off an appended graph, and an edit may then write a different one there. Verifying the mapping
    // and then reading it could see two states, so a copy is made and verified.
    const auto copy = std::make_shared<const ByteSpan>(gathered(EntrySource(archive_, entry)));
    return {copy->bytes(), copy, nullptr, name, archive_.locate(entry).offset};
  }
  const Bytes bytes = archive_.bytes(entry);  // first: with ranges, this also fetches what `locate` needs
  if (options().verify_data) archive_.verify(entry);
  return {bytes, archive_.owner(), ArchiveAccess::origin(archive_), name, archive_.locate(entry).offset};
}

void ArchiveSource::prove_link(const onnx::TensorSite& site) {
  ModelSource::prove_link(site);
  uses_.note(site);
}

Evidence ArchiveSource::evidence() const {
  // A verified copy has the bytes that were written. An error in it is an error of the model, even if the file has
  // changed since.
  return {.archive = base::lies_in(model(), archive_.file()) ? &archive_ : nullptr};
}

onnx::ExternalSlice ArchiveSource::link_of(const onnx::TensorView& tensor) const { return proved_link(tensor); }

Resolved ArchiveSource::find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) {
  const auto [entry, part] = part_named(archive_, site.tensor, slice);
  uses_.note(entry.index);
  return payloads_.part(archive_, entry, part);
}

std::vector<std::string> ArchiveSource::graphs() const {
  std::vector<std::string> names;
  if (!has_choice()) {
    for (const ArchiveEntry& entry : archive_.graphs()) names.emplace_back(entry.name);
  }
  for (std::size_t i = 1; i < chosen_.size(); ++i) names.push_back(file_of_graph(archive_, chosen_[i]).value());
  return names;
}

bool ArchiveSource::has_choice() const {
  return !chosen_.empty() || archive_.model_entry().index + 1 != archive_.size();
}

SourceCompanions ArchiveSource::companions() {
  // The ignored graphs are still needed to distinguish weights from unused entries.
  if (has_choice()) {
    for (const ArchiveEntry& graph : all_graphs(archive_)) note_as_far_as_read(uses_, archive_, graph);
  }
  SourceCompanions found;
  for (std::size_t i = 0; i < archive_.size(); ++i) {
    const ArchiveEntry entry = archive_.entry(i);
    const EntryKind kind = uses_.kind_of(i);
    if (kind == EntryKind::side_file) {
      found.side_files.push_back({std::string(entry.name), payloads_.whole(archive_, entry)});
    } else if (kind == EntryKind::unused) {
      found.left_out.emplace_back(entry.name);
      found.left_out_bytes += entry.size;
    }
  }
  if (!chosen_.empty()) keep_variants(found.side_files, archive_, chosen_);
  return found;
}

const Archive* archive_of(const ModelSource& source) {
  const auto* const in_archive = dynamic_cast<const ArchiveSource*>(&source);
  return in_archive == nullptr ? nullptr : &in_archive->archive();
}

}  // namespace onnxar
