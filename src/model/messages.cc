// Converts protobuf messages to and from bytes, and visits the messages within them.
#include "model/messages.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "archive/model_proof.h"
#include "archive/tensor_text.h"
#include "onnx/sites.h"
#include "onnx/wire.h"
#include "onnxar/error.h"

namespace onnxar {

void parse(schema::ModelProto& proto, Bytes skeleton) {
  // Protobuf takes the size as an int. The size may come from a file, so the cast below must not be trusted to fit.
  if (!fits_protobuf(skeleton.size())) {
    throw Error(Code::onnx_model_too_large, oversize_text("without its large tensors it is", skeleton.size()), {}, {},
                {Hint::lower_threshold});
  }
  const google::protobuf::LogSilencer silent;  // protobuf's debug builds report names that are not UTF-8 on stderr
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const std::uint8_t*>(skeleton.data()),
                                               static_cast<int>(skeleton.size()));
  // The wire layer has walked the messages that lead to tensors. Only protobuf descends into the others, such as nested
  // types.
  input.SetRecursionLimit(static_cast<int>(onnx::most_nested_messages));
  if (proto.ParsePartialFromCodedStream(&input) && input.ConsumedEntireMessage()) return;
  throw Error(Code::onnx_model_invalid, "protobuf cannot parse the model: a message in it is damaged", {}, {},
              {Hint::get_model_again});
}

std::vector<std::byte> serialised(const google::protobuf::MessageLite& message) {
  const google::protobuf::LogSilencer silent;  // as in `parse`
  std::vector<std::byte> bytes(message.ByteSizeLong());
  // This is protobuf's own limit. A skeleton reaches it only if messages hold data that should be payloads.
  if (!fits_protobuf(bytes.size()) || !message.SerializePartialToArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw Error(Code::onnx_model_too_large, oversize_text("the message is", bytes.size()), {}, {},
                {Hint::set_large_payloads});
  }
  return bytes;
}

void for_each_message(const google::protobuf::Message& message,
                      const std::function<void(const google::protobuf::Message&)>& visit) {
  visit(message);
  const auto& reflection = *message.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const auto* field : fields) {
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      for_each_message(reflection.GetMessage(message, field), visit);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      for_each_message(reflection.GetRepeatedMessage(message, field, i), visit);
    }
  }
}

TensorInfo info_of(const schema::TensorProto& tensor, std::string site) {
  return {tensor.name(), type_of(tensor), {tensor.dims().begin(), tensor.dims().end()}, std::move(site)};
}

std::string_view location_of(const schema::TensorProto& tensor) {
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") return entry.value();
  }
  return {};
}

}  // namespace onnxar
