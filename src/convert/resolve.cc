#include "onnxar/resolve.h"

#include "base/text.h"
#include "convert/archive_walk.h"
#include "convert/external_tensor.h"

namespace onnxar {
namespace {

/// As the wire would give it, for the same judgement.
onnx::TensorView view_of(const TensorMessage& message) {
  onnx::TensorView tensor;
  tensor.name = message.name;
  tensor.type = message.type;
  tensor.dims.reserve(message.dims.size());
  for (const std::int64_t dim : message.dims) add_dim(tensor, static_cast<std::uint64_t>(dim), 0);
  check_product(tensor);
  if (message.raw_data) tensor.raw_data = wire::Range{0, message.raw_data->size()};
  tensor.typed_data = message.typed_data;
  for (const auto& [key, value] : message.external_data) tensor.external.add(key, value, 0);
  return tensor;
}

/// Data that stands in the message.
std::optional<Bytes> inline_data(const TensorMessage& message, const onnx::TensorView& tensor) {
  if (!message.raw_data && (message.typed_data || message.type == DataType::string)) return std::nullopt;
  const Bytes data = message.raw_data.value_or(Bytes());
  const auto expected = tensor.expected_size();
  if (!expected || data.size() >= *expected) return data;
  throw Error(Code::onnx_tensor_length,
              base::concat("the message holds ", data.size(), " bytes of data, but type ", to_string(tensor.type),
                           " and the dimensions call for ", *expected));
}

/// The same error with the tensor's name. Of a message nobody knows where in the model it stood: only places in entries
/// are kept.
Error naming(const TensorMessage& tensor, const Archive& archive, const Error& error) {
  const Place place = error.entry().empty() ? Place{} : error.finding().place;
  return {error.code(), base::concat("tensor ", base::quoted(tensor.name), ": ", error.message()), place,
          archive.path()};
}

}  // namespace

void prove_model(const Archive& archive) {
  walk_archive(archive, {}, [](const onnx::TensorSite&) {});
}

std::optional<Bytes> resolve(const Archive& archive, const TensorMessage& tensor) {
  try {
    const onnx::TensorView view = view_of(tensor);
    if (!tensor.external) return inline_data(tensor, view);
    return part_named(archive, view, proved_link(view)).bytes;
  } catch (const Error& error) {
    throw naming(tensor, archive, error);
  }
}

}  // namespace onnxar
