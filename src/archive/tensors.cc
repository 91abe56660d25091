// Lists the tensors of an archive, and finds the bytes and the entry of a listed tensor.
#include "onnxar/tensors.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/access.h"
#include "archive/aligned_copies.h"
#include "archive/evidence.h"
#include "archive/external_tensor.h"
#include "archive/graphs.h"
#include "archive/tensor_text.h"
#include "base/annotated.h"
#include "base/byte_range.h"
#include "base/checked.h"
#include "base/keyed_hash.h"
#include "base/text.h"
#include "onnx/tensor_values.h"
#include "onnx/tensor_view.h"
#include "onnx/typed_data.h"

namespace onnxar {
namespace {

using base::concat;

/// Returns the bytes that type and dimensions require. Inline data may be longer, which `check` only warns of.
Bytes cut_to_size(Bytes bytes, const onnx::TensorView& tensor) {
  return bytes.first(base::in_memory(tensor.expected_size().value_or(bytes.size())));
}

ByteSpan external_data(const Archive& archive, const onnx::TensorView& tensor) {
  return ByteSpan::borrow(bytes_of(archive, part_named(archive, tensor, proved_link(tensor))), archive.owner());
}

ByteSpan aligned_copy(const Archive& archive, const onnx::TensorView& tensor, const ByteSource& source) {
  const AlignedCopies::Key key{tensor.range.begin, tensor.range.end};
  return ArchiveAccess::copies(archive).get(key, source, archive.model().size());
}

/// Returns the bytes at an aligned address. Protobuf does not align bytes fields, but callers read the data as
/// elements. Unaligned data is copied once.
ByteSpan aligned(const Archive& archive, const onnx::TensorView& tensor, Bytes bytes) {
  if (alignment_of(bytes) >= AlignedCopies::alignment) return ByteSpan::borrow(bytes, archive.owner());
  return aligned_copy(archive, tensor, SpanSource(bytes));
}

ByteSpan inline_data(const Archive& archive, const onnx::TensorView& tensor) {
  onnx::prove_values(archive.model(), tensor);
  if (tensor.type == DataType::string) onnx::refuse_conversion(tensor);
  if (tensor.raw_data) {
    return aligned(archive, tensor, cut_to_size(tensor.raw_data->of(archive.model()), tensor));
  }
  if (tensor.expected_size() == 0) return {};
  if (const auto raw = onnx::raw_run_of(archive.model(), tensor)) return aligned(archive, tensor, *raw);
  // Varints, and several floats in unpacked fields, are not contiguous raw bytes, so the archive keeps them decoded.
  const auto source = onnx::typed_data_source(archive.model(), tensor);
  if (source) return aligned_copy(archive, tensor, *source);
  onnx::refuse_conversion(tensor);
}

/// Reads the message at the place of `tensor`, and compares it with `tensor`. If the caller mixed up two archives, the
/// place may hold a different tensor, or bytes that are not a tensor.
onnx::TensorView own_tensor(const Archive& archive, const StoredTensor& tensor) {
  const Bytes model = archive.model();
  std::optional<onnx::TensorView> found;
  try {
    if (base::in_range(tensor.offset, tensor.size, model.size())) {
      found = onnx::read_tensor(model, {tensor.offset, tensor.offset + tensor.size});
    }
  } catch (const Error&) {
    found.reset();  // `tensors` refuses models with such bytes, so `tensor` comes from a different archive
  }
  if (found && found->name == tensor.name && found->type == tensor.type && found->dims == tensor.dims) return *found;
  throw Error(Code::usage_foreign_entry,
              "the tensor is not in this archive's model; use one that was listed from this archive", {},
              archive.path());
}

/// Returns `read(view)` for the tensor's message. Adds the tensor's name to errors.
template <typename Read>
auto read_own(const Archive& archive, const StoredTensor& tensor, const Read& read) {
  const auto named = [&tensor] {
    return base::Annotation{.prefix = concat("tensor ", base::quoted(tensor.name), " (", tensor.site, ")")};
  };
  return base::annotated(Evidence{.archive = &archive, .graph = archive.model_entry()}, [&] {
    return base::annotated(named, [&] {
      const onnx::TensorView view = own_tensor(archive, tensor);
      onnx::prove_type(view);
      return read(view);
    });
  });
}

}  // namespace

std::vector<StoredTensor> tensors(const Archive& archive) {
  std::vector<StoredTensor> found;
  walk_graph(archive, archive.model_entry(), [&](const onnx::TensorSite& site) {
    found.push_back({info_of(site), site.tensor.range.begin, site.tensor.range.size()});
  });
  return found;
}

ByteSpan tensor_data(const Archive& archive, const StoredTensor& tensor) {
  return read_own(archive, tensor, [&](const onnx::TensorView& view) {
    return view.is_external() ? external_data(archive, view) : inline_data(archive, view);
  });
}

std::optional<ArchiveEntry> tensor_entry(const Archive& archive, const StoredTensor& tensor) {
  return read_own(archive, tensor, [&](const onnx::TensorView& view) {
    return view.is_external() ? std::optional(part_named(archive, view, proved_link(view)).entry) : std::nullopt;
  });
}

}  // namespace onnxar
