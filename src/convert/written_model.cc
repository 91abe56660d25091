// The last step of writing and of editing an archive, which looks into the model: that takes ONNX, of which the layer
// below, where the rest of both classes is, knows nothing.
#include <optional>
#include <string>
#include <string_view>

#include "archive/writer_parts.h"
#include "base/checked.h"
#include "base/text.h"
#include "convert/external_tensor.h"
#include "convert/graph_rules.h"
#include "convert/model_source.h"
#include "onnx/sites.h"
#include "onnx/tensor_values.h"

namespace onnxar {
namespace {

using base::concat;

/// Proves the link of one tensor against the entries of the archive. Errors: as `resolve`.
void prove_target(const onnx::TensorView& tensor, const EntryWriter::Entries& entries) {
  const onnx::ExternalSlice slice = proved_link(tensor);
  const auto size = EntryWriter::size_of(entries, slice.location);
  if (!size) {
    throw Error(Code::onnx_external_missing,
                concat("it refers to ", base::quoted(slice.location),
                       ", which is not an entry of the archive; add that entry before the model, or turn verify_model "
                       "off"));
  }
  const std::uint64_t rest = slice.offset <= *size ? *size - slice.offset : 0;
  const std::uint64_t length = slice.length.value_or(tensor.expected_size().value_or(rest));
  if (base::in_range(slice.offset, length, *size)) return;
  throw Error(Code::onnx_external_out_of_range,
              concat("offset ", slice.offset, " and length ", length, " leave the entry ", base::quoted(slice.location),
                     " of ", *size, " bytes"));
}

void prove_tensor(const onnx::TensorSite& site, const EntryWriter::Entries& entries, bool with_values) {
  try {
    if (with_values) onnx::prove_type(site.tensor);
    if (site.tensor.is_external()) prove_target(site.tensor, entries);
    if (with_values && !site.tensor.is_external()) onnx::prove_values(site.model, site.tensor);
  } catch (const Error& error) {
    throw Error(error.code(), concat(describe(site), ": ", error.message()));
  }
}

void prove_metadata(const std::optional<MetadataFault>& fault) {
  if (fault) throw Error(fault->code, fault->message);
}

/// Errors without a place: offsets count from the model's first byte, which has a place in the file that is never seen.
void prove_model(std::string_view name, Bytes model, const EntryWriter::Entries& entries) {
  const bool is_graph = name != model_entry_name;
  try {
    if (is_graph && model.size() > OpenOptions().max_model_size) {
      throw Error(Code::archive_model_too_large, "protobuf reads less than 2 GiB");
    }
    // A model that is written as the user has it may hold values that a runtime refuses; a graph is one that was made
    // for an archive.
    onnx::walk_tensors(model, [&](const onnx::TensorSite& site) { prove_tensor(site, entries, is_graph); });
    prove_metadata(is_graph ? link_marker_fault(model)
                            : model_name_fault(model, {entries.size(), [&entries](std::size_t i) {
                                                         return entries[i].first;
                                                       }}));
  } catch (const Error& error) {
    const std::string message =
        is_graph ? concat("a file NAME.onnx in the root is a graph of the archive, and this one cannot be one: ",
                          error.message(), "; in a folder, as `extra/", name, "`, it is a side file")
                 : concat("the model is not what an archive may end with: ", error.message());
    throw Error(error.code(), message, {std::string(name), std::nullopt});
  }
}

EntryWriter::ProveModel proof(bool wanted) { return wanted ? EntryWriter::ProveModel(prove_model) : nullptr; }

}  // namespace

void ArchiveWriter::finish(const ByteSource& model) {
  parts_->writer.finish("finish", model, base::Sync::none, parts_->sync, proof(parts_->verify_model));
}

void ArchiveEditor::commit(const ByteSource& model) {
  parts_->writer.finish("commit", model, parts_->sync, parts_->sync, proof(parts_->verify_model));
}

}  // namespace onnxar
