// Proves the models that are written to archives. Defines ArchiveWriter::create and ArchiveEditor::open, the only
// members of these classes that need ONNX (archive/writer_parts.h).
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "archive/access.h"
#include "archive/writer_parts.h"
#include "base/crc32.h"
#include "base/errors.h"
#include "base/text.h"
#include "onnx/sites.h"
#include "onnx/tensor_values.h"
#include "source/family_resolver.h"
#include "tensors/archive_walk.h"
#include "tensors/entry_uses.h"
#include "tensors/external_tensor.h"

namespace onnxar {
namespace {

using base::concat;

/// Proves the link of one tensor against the entries of the archive. Errors: as `resolve`.
void prove_target(const onnx::TensorView& tensor, const EntryWriter::Entries& entries) {
  const onnx::ExternalSlice slice = proved_link(tensor);
  const auto size = EntryWriter::size_of(entries, slice.location);
  if (!size) onnx::refuse_missing(slice.location, "the archive", tensor.range.begin);
  static_cast<void>(onnx::length_in(slice, tensor.expected_size(), *size, "entry", tensor.range.begin));
}

void prove_tensor(const onnx::TensorSite& site, const EntryWriter::Entries& entries, bool with_values) {
  try {
    if (with_values) onnx::prove_type(site.tensor);
    if (site.tensor.is_external()) prove_target(site.tensor, entries);
    if (with_values && !site.tensor.is_external()) onnx::prove_values(site.model, site.tensor);
  } catch (const Error& error) {
    throw base::annotate(error, {.prefix = describe(site), .place = Place{}});
  }
}

void prove_metadata(const std::optional<MetadataFault>& fault) {
  if (fault) throw Error(fault->code, fault->message);
}

/// Proves a model or a graph after it was written and before the file is published. Errors have no offset: the file is
/// discarded, so an offset in it would lead nowhere.
void prove_written_graph(std::string_view name, Bytes model, const EntryWriter::Entries& entries) {
  const bool is_graph = name != model_entry_name;
  try {
    if (is_graph && !fits_protobuf(model.size())) {  // G2
      throw Error(Code::archive_model_too_large, oversize_text("the graph is", model.size()));
    }
    // Values are proved only in graphs. `pack` accepts a model whose inline values a runtime refuses, since it writes
    // them unchanged; `check` reports them.
    onnx::walk_tensors(model, [&](const onnx::TensorSite& site) { prove_tensor(site, entries, is_graph); });
    prove_metadata(
        is_graph ? link_marker_fault(model)
                 : model_name_fault(model, {entries.size(), [&entries](std::size_t i) { return entries[i].first; }}));
  } catch (const Error& error) {
    const std::string message =
        is_graph ? concat("a file NAME.onnx in the root is a graph of the archive, and this file is not a valid one: ",
                          error.message(), "; in a folder, as `extra/", name, "`, it is a side file")
                 : concat("an archive cannot end with this model: ", error.message());
    const bool is_missing = !is_graph && error.code() == Code::onnx_external_missing;
    throw Error(error.code(), message, {std::string(name), std::nullopt}, {},
                is_missing ? Advice{Hint::add_entry_first} : error.advice());
  }
}

bool is_same(const ArchiveEntry& entry, Bytes bytes) {
  return entry.size == bytes.size() && entry.crc32 == base::crc32(0, bytes);
}

/// Refuses a model or graph that links to an entry that this edit moves: the entry would become a weight, and edits
/// never move weights.
void prove_kept(const EditPlan& plan, Bytes model) {
  const Archive& archive = plan.archive();
  onnx::walk_tensors(model, [&](const onnx::TensorSite& site) {
    if (!site.tensor.is_external() || !site.tensor.external.location) return;
    const auto entry = archive.find(*site.tensor.external.location);
    if (!entry || !plan.moves(entry->index)) return;
    throw Error(
        Code::usage_argument,
        concat(describe(site), ": its data would be in ", base::quoted(entry->name),
               ", which moves because this edit removes an entry before it; remove that entry by a separate edit"),
        {std::string(entry->name), std::nullopt}, archive.path());
  });
}

/// Finds what may be removed. A graph counts as far as it can be read: the edit may be there to remove a broken one.
/// The limits are the default ones, as the editor was not given others.
EditPlan::Removable removable_in(const Archive& archive) {
  EditPlan::Removable found;
  EntryUses uses(archive);
  walk_archive(archive, {}, [&uses](const onnx::TensorSite& site) { uses.note(site); });
  found.unread = note_graphs_as_far_as_read(uses, archive, {});
  found.end_of_weights = uses.end_of_weights();
  return found;
}

/// Proves the model that completes an edit, or a graph that the edit added.
void prove_edited(const EditPlan& plan, std::string_view name, Bytes written, const EntryWriter::Entries& entries) {
  prove_written_graph(name, written, entries);
  prove_kept(plan, written);
  const Archive& archive = plan.archive();
  if (name != model_entry_name || is_same(archive.entry(archive.size() - 1), written)) return;
  refuse_where_graphs_name_the_model(archive, [&plan](std::size_t index) { return !plan.is_removed(index); }, {});
}

}  // namespace

ArchiveWriter ArchiveWriter::create(const std::filesystem::path& target, const WriterOptions& options) {
  EntryWriter::ProveModel prove;
  if (options.verify_model) prove = prove_written_graph;
  return ArchiveWriter(Parts::create(target, options, std::move(prove)));
}

ArchiveEditor ArchiveEditor::open(const std::filesystem::path& path, const EditOptions& options) {
  EditRules rules{removable_in, {}};
  if (options.verify_model) rules.prove = prove_edited;
  return ArchiveEditor(Parts::open(path, options, std::move(rules)));
}

}  // namespace onnxar
