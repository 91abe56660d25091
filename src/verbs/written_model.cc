// The members of ArchiveWriter and ArchiveEditor that parse the model. All other members are in archive/, which does
// not know ONNX.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/model_size.h"
#include "archive/output_options.h"
#include "archive/writer_parts.h"
#include "base/annotate.h"
#include "base/crc32.h"
#include "base/text.h"
#include "onnx/sites.h"
#include "onnx/tensor_values.h"
#include "source/graph_rules.h"
#include "tensors/archive_walk.h"
#include "tensors/describe.h"
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
void prove_kept(const Archive& archive, const std::function<bool(std::size_t)>& moves, Bytes model) {
  onnx::walk_tensors(model, [&](const onnx::TensorSite& site) {
    if (!site.tensor.is_external() || !site.tensor.external.location) return;
    const auto entry = archive.find(*site.tensor.external.location);
    if (!entry || !moves(entry->index)) return;
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

[[noreturn]] void refuse_removal_beside(const Archive& archive, const ArchiveEntry& entry, const ArchiveEntry& graph) {
  throw Error(
      Code::usage_argument,
      concat("it cannot be removed or replaced in place, because a tensor of the graph ", base::quoted(graph.name),
             " may use it: that graph cannot be read to its end; remove or replace the graph first"),
      {std::string(entry.name), std::nullopt}, archive.path());
}

[[noreturn]] void refuse_removal(const Archive& archive, const ArchiveEntry& entry, std::size_t end_of_weights) {
  const std::string_view last = archive.entry(end_of_weights - 1).name;
  const std::string where = entry.name == last ? "a tensor of the model or of a graph uses it"
                                               : concat("the weight ", base::quoted(last), " lies after it");
  throw Error(Code::usage_argument,
              concat("it cannot be removed or replaced in place, because ", where, ", and an edit never moves weights"),
              {std::string(entry.name), std::nullopt}, archive.path(), {Hint::pack_anew});
}

}  // namespace

void ArchiveWriter::finish(const ByteSource& model) {
  EntryWriter::ProveModel proof;
  if (parts_->verify_model) proof = prove_written_graph;
  parts_->writer.finish("finish", model, base::Sync::none, parts_->sync, proof);
}

void ArchiveEditor::remove(std::string_view name) {
  Parts& parts = *parts_;
  parts.writer.attempt("remove", [&] {
    const Place place{std::string(name), std::nullopt};
    EditPlan& plan = parts.plan;
    const auto entry = plan.archive().find(name);
    if (!entry) throw Error(Code::usage_no_such_entry, "the archive has no such entry", place);
    if (entry->name == model_entry_name || parts.has_begun) {
      throw Error(Code::usage_argument,
                  parts.has_begun ? "`remove` must be called before the first `add`"
                                  : "the model cannot be removed; `commit` replaces it",
                  place);
    }
    if (!plan.removable) plan.removable = removable_in(plan.archive());
    const auto& [end_of_weights, unread] = *plan.removable;
    if (entry->index < end_of_weights) refuse_removal(plan.archive(), *entry, end_of_weights);
    for (const std::size_t graph : unread) {
      if (graph == entry->index || plan.is_removed(graph)) continue;
      refuse_removal_beside(plan.archive(), *entry, plan.archive().entry(graph));
    }
    plan.remove(entry->index);
  });
}

void ArchiveEditor::commit(const ByteSource& model) {
  Parts& parts = *parts_;
  parts.append_run_before(model_entry_name);
  EntryWriter::ProveModel proof;
  if (parts.options.verify_model) {
    proof = [&plan = parts.plan](std::string_view name, Bytes written, const EntryWriter::Entries& entries) {
      prove_written_graph(name, written, entries);
      prove_kept(plan.archive(), [&plan](std::size_t index) { return plan.moves(index); }, written);
      const ArchiveEntry old = plan.archive().entry(plan.archive().size() - 1);
      if (name != model_entry_name || is_same(old, written)) return;
      refuse_where_graphs_name_the_model(plan.archive(), [&plan](std::size_t index) { return !plan.is_removed(index); },
                                         {});
    };
  }
  const base::Sync sync = sync_of(parts.options.output);
  parts.writer.finish("commit", model, sync, sync, proof);
}

}  // namespace onnxar
