#include "tensors/external_tensor.h"

#include "base/checked.h"
#include "base/text.h"

namespace onnxar {

void check_link(const onnx::TensorView& tensor) {
  const Place place{"", tensor.range.begin};
  if (tensor.type == DataType::string) {
    throw Error(Code::onnx_external_string, "strings cannot be external data", place);
  }
  if (tensor.raw_data || tensor.typed_data) {
    throw Error(Code::onnx_external_data_beside, "the tensor's data is external, but the model holds data for it, too",
                place);
  }
}

void check_length(const onnx::TensorView& tensor, std::uint64_t length) {
  const auto expected = tensor.expected_size();
  if (!expected || *expected == length) return;
  throw Error(Code::onnx_tensor_length,
              base::concat("the external data is ", length, " bytes long, but type ", to_string(tensor.type),
                           " and the dimensions call for ", *expected),
              {"", tensor.range.begin});
}

onnx::ExternalSlice proved_link(const onnx::TensorView& tensor) {
  check_link(tensor);
  onnx::ExternalSlice slice = onnx::parse_external_data(tensor.external, tensor.range.begin);
  if (slice.length) check_length(tensor, *slice.length);
  return slice;
}

Bytes part_of(const Archive& archive, const ArchiveEntry& entry, const onnx::TensorView& tensor,
              const onnx::ExternalSlice& slice) {
  const Bytes whole = archive.bytes(entry);
  const std::uint64_t rest = slice.offset <= whole.size() ? whole.size() - slice.offset : 0;
  const std::uint64_t length = slice.length.value_or(tensor.expected_size().value_or(rest));
  const auto part = base::slice(whole, slice.offset, length);
  if (part) return *part;
  throw Error(Code::onnx_external_out_of_range,
              base::concat("offset ", slice.offset, " and length ", length, " leave the entry ",
                           base::quoted(slice.location), " of ", whole.size(), " bytes"),
              {"", tensor.range.begin});
}

NamedPart part_named(const Archive& archive, const onnx::TensorView& tensor, const onnx::ExternalSlice& slice) {
  const auto entry = archive.find(slice.location);
  if (!entry) {
    throw Error(Code::onnx_external_missing,
                base::concat("it refers to ", base::quoted(slice.location), ", which is no entry of the archive"),
                {"", tensor.range.begin});
  }
  return {*entry, part_of(archive, *entry, tensor, slice)};
}

}  // namespace onnxar
