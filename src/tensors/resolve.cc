#include "onnxar/resolve.h"

#include "base/text.h"
#include "onnx/tensor_length.h"
#include "onnx/tensor_values.h"
#include "tensors/archive_walk.h"
#include "tensors/external_tensor.h"
#include "tensors/message_view.h"

namespace onnxar {
namespace {

/// Data that is in the message itself.
std::optional<Bytes> inline_data(const TensorMessage& message, const onnx::TensorView& tensor) {
  prove_value_fields(tensor);
  const Bytes data = message.raw_data.value_or(Bytes());
  if (message.type == DataType::string || (message.typed_data && data.empty())) return std::nullopt;
  const auto expected = tensor.expected_size();
  if (!expected || data.size() >= *expected) return data;
  throw onnx::length_fault(base::concat("the message holds ", data.size(), " bytes of data"), tensor.type,  // M18
                           *expected);
}

/// `error` with the tensor's name. A message does not know its offset in the model, so only places in entries are kept.
Error annotate(const Error& error, const TensorMessage& tensor, const Archive& archive) {
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
    onnx::prove_type(view);
    if (!tensor.external) return inline_data(tensor, view);
    return part_named(archive, view, proved_link(view)).bytes;
  } catch (const Error& error) {
    throw annotate(error, tensor, archive);
  }
}

}  // namespace onnxar
