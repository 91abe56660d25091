#include "text/text_losses.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "proto/messages.h"

namespace onnxar {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;

/// Protobuf prints every NaN as `nan`, and parses it as the quiet NaN without sign or payload.
template <typename Float, typename Bits>
bool is_odd_nan(Float value) {
  return std::isnan(value) &&
         std::bit_cast<Bits>(value) != std::bit_cast<Bits>(std::numeric_limits<Float>::quiet_NaN());
}

std::uint64_t odd_nans(const google::protobuf::Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  const bool repeated = field.is_repeated();
  const int size = repeated ? reflection.FieldSize(message, &field) : 1;
  const bool is_float = field.cpp_type() == FieldDescriptor::CPPTYPE_FLOAT;
  std::uint64_t count = 0;
  for (int i = 0; i < size; ++i) {
    const bool odd = is_float
                         ? is_odd_nan<float, std::uint32_t>(repeated ? reflection.GetRepeatedFloat(message, &field, i)
                                                                     : reflection.GetFloat(message, &field))
                         : is_odd_nan<double, std::uint64_t>(repeated ? reflection.GetRepeatedDouble(message, &field, i)
                                                                      : reflection.GetDouble(message, &field));
    count += odd ? 1 : 0;
  }
  return count;
}

struct Losses {
  std::uint64_t unknown = 0;  ///< messages with unknown fields
  std::uint64_t nans = 0;
};

Losses losses_of(const schema::ModelProto& proto) {
  Losses losses;
  std::vector<const FieldDescriptor*> fields;
  for_each_message(proto, [&](const google::protobuf::Message& message) {
    const Reflection& reflection = *message.GetReflection();
    if (!reflection.GetUnknownFields(message).empty()) ++losses.unknown;
    fields.clear();
    reflection.ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
      const auto type = field->cpp_type();
      const bool is_real = type == FieldDescriptor::CPPTYPE_FLOAT || type == FieldDescriptor::CPPTYPE_DOUBLE;
      if (is_real) losses.nans += odd_nans(message, *field);
    }
  });
  return losses;
}

/// Counts the tensors that share another tensor's bytes.
std::uint64_t shared_payloads(const LoadedModel& model) {
  std::set<Extent> extents;
  std::uint64_t again = 0;
  for (const Payload& payload : model.payloads) {
    if (!payload.bytes().empty() && !extents.emplace(payload).second) ++again;
  }
  return again;
}

}  // namespace

std::vector<Finding> text_losses(const LoadedModel& model, const schema::ModelProto& proto) {
  std::vector<Finding> found;
  const auto add = [&found](std::string message) {
    found.push_back({Severity::warning, Code::onnx_text_loss, {}, std::move(message)});
  };
  const auto add_counted = [&add](std::uint64_t count, std::string_view one, std::string_view several,
                                  std::string_view what) {
    if (count != 0) add(base::concat(count, count == 1 ? one : several, what));
  };
  const Losses losses = losses_of(proto);
  add_counted(losses.unknown, " message has", " messages have",
              " fields that the schema does not know; text cannot carry them");
  add_counted(losses.nans, " NaN in a typed field has", " NaNs in typed fields have",
              " a sign or a payload; text has one NaN");
  // Unknown fields are dropped, which changes the bytes in any case: a second remark would add nothing.
  if (losses.unknown == 0 && serialised(proto) != model.skeleton) {
    add("the fields of the model are not in the order or encoding that protobuf writes; a model made from the text has "
        "the same content in different bytes");
  }
  add_counted(shared_payloads(model), " tensor shares", " tensors share",
              " another tensor's data; the text repeats it for each of them");
  return found;
}

}  // namespace onnxar
