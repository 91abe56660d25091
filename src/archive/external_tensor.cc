// Checks the link of a tensor with external data, and finds the bytes that it names in an archive.
#include "archive/external_tensor.h"

#include "archive/access.h"
#include "base/byte_range.h"
#include "base/text.h"
#include "onnx/tensor_values.h"
#include "onnx/tensor_view.h"

namespace onnxar {

onnx::TensorView view_of(const TensorMessage& message) {
  onnx::TensorView tensor;
  tensor.name = message.name;
  tensor.type = message.type;
  tensor.dims.reserve(message.dims.size());
  for (const std::int64_t dim : message.dims) add_dim(tensor, static_cast<std::uint64_t>(dim), 0);
  check_product(tensor);
  if (message.raw_data) tensor.raw_data = onnx::Range{0, message.raw_data->size()};
  tensor.typed_data = message.typed_data;
  for (const auto& [key, value] : message.external_data) tensor.external.add(key, value, 0);
  return tensor;
}

void check_link(const onnx::TensorView& tensor) {
  const Place place{"", tensor.range.begin};
  if (tensor.type == DataType::string) {  // M15
    throw Error(Code::onnx_external_string, "strings cannot be external data", place);
  }
  if (tensor.raw_data || tensor.typed_data) {  // M16
    throw Error(Code::onnx_external_data_beside, "the tensor's data is external, but the model also holds data for it",
                place);
  }
}

void check_length(const onnx::TensorView& tensor, std::uint64_t length) {
  const auto expected = tensor.expected_size();
  if (!expected || *expected == length) return;
  throw onnx::length_fault(base::concat("the external data is ", length, " bytes long"), tensor.type,  // M18
                           *expected, {"", tensor.range.begin});
}

onnx::ExternalSlice proved_link(const onnx::TensorView& tensor) {
  check_link(tensor);
  onnx::ExternalSlice slice = onnx::parse_external_data(tensor.external, tensor.range.begin);
  // A link without a length names as many bytes as the dims require (`part_of`), so there is nothing to compare.
  if (slice.length) check_length(tensor, *slice.length);
  return slice;
}

onnx::ExternalSlice exported_link(const onnx::TensorView& tensor) {
  onnx::TensorView link = tensor;
  link.raw_data.reset();
  link.typed_data = false;
  if (link.external.length == "0") link.external.length.reset();  // the dims call for the length
  return proved_link(link);
}

Bytes part_of(const Archive& archive, const ArchiveEntry& entry, const onnx::TensorView& tensor,
              const onnx::ExternalSlice& slice) {
  const Bytes whole = ArchiveAccess::place(archive, entry);
  try {
    const std::uint64_t length =
        onnx::length_in(slice, tensor.expected_size(), whole.size(), "entry", tensor.range.begin);  // M13
    return base::section(whole, slice.offset, length);
  } catch (const Error&) {
    // A fault of the entry is reported first. If the archive is read in ranges, nothing has looked for one yet.
    static_cast<void>(archive.locate(entry));
    throw;
  }
}

EntryPart part_named(const Archive& archive, const onnx::TensorView& tensor, const onnx::ExternalSlice& slice) {
  const auto entry = archive.find(slice.location);
  if (!entry) onnx::refuse_missing(slice.location, "the archive", tensor.range.begin);  // M9
  return {*entry, part_of(archive, *entry, tensor, slice)};
}

Bytes bytes_of(const Archive& archive, const EntryPart& part) {
  return ArchiveAccess::part(archive, part.entry, part.bytes);
}

}  // namespace onnxar
