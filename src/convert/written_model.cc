// The last step of writing and of editing an archive, which looks into the model: that takes ONNX, of which the layer
// below, where the rest of both classes is, knows nothing.
#include <string_view>

#include "archive/writer_parts.h"
#include "base/checked.h"
#include "base/text.h"
#include "convert/external_tensor.h"
#include "convert/model_source.h"
#include "onnx/sites.h"

namespace onnxar {
namespace {

using base::concat;

/// Proves the link of one tensor against the entries of the archive. Errors: as `resolve`.
void prove_target(const onnx::TensorView& tensor, const EntryWriter::SizeOfEntry& size_of) {
  const onnx::ExternalSlice slice = proved_link(tensor);
  const auto size = size_of(slice.location);
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

void prove_model(Bytes model, const EntryWriter::SizeOfEntry& size_of) {
  try {
    onnx::walk_tensors(model, [&](const onnx::TensorSite& site) {
      if (!site.tensor.is_external()) return;
      try {
        prove_target(site.tensor, size_of);
      } catch (const Error& error) {
        throw Error(error.code(), concat(describe(site), ": ", error.message()));
      }
    });
  } catch (const Error& error) {
    // Offsets count from the model's first byte, which has a place in the file that is never seen.
    throw Error(error.code(), concat("the model is not what an archive may end with: ", error.message()),
                {std::string(model_entry_name), std::nullopt});
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
