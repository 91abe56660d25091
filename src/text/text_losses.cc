#include "text/text_losses.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "proto/messages.h"

namespace onnxar {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;

/// Text has one NaN, which reads back as the quiet one without sign or payload.
template <typename Float, typename Bits>
bool is_odd_nan(Float value) {
  return std::isnan(value) &&
         std::bit_cast<Bits>(value) != std::bit_cast<Bits>(std::numeric_limits<Float>::quiet_NaN());
}

/// Counts what would be lost, message by message. Recursion is bounded by what the parser lets in.
class Losses {
 public:
  void look_at(const google::protobuf::Message& message) {
    const Reflection& reflection = *message.GetReflection();
    if (!reflection.GetUnknownFields(message).empty()) ++unknown_;
    std::vector<const FieldDescriptor*> fields;
    reflection.ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) look_at(message, reflection, *field);
  }

  [[nodiscard]] std::uint64_t unknown() const noexcept { return unknown_; }
  [[nodiscard]] std::uint64_t nans() const noexcept { return nans_; }

 private:
  void look_at(const google::protobuf::Message& message, const Reflection& reflection, const FieldDescriptor& field) {
    const bool repeated = field.is_repeated();
    const int count = repeated ? reflection.FieldSize(message, &field) : 1;
    const auto each = [count](const auto& look) {
      for (int i = 0; i < count; ++i) look(i);
    };
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        each([&](int i) {
          look_at(repeated ? reflection.GetRepeatedMessage(message, &field, i)
                           : reflection.GetMessage(message, &field));
        });
        break;
      case FieldDescriptor::CPPTYPE_FLOAT:
        each([&](int i) {
          nans_ += static_cast<std::uint64_t>(is_odd_nan<float, std::uint32_t>(
              repeated ? reflection.GetRepeatedFloat(message, &field, i) : reflection.GetFloat(message, &field)));
        });
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        each([&](int i) {
          nans_ += static_cast<std::uint64_t>(is_odd_nan<double, std::uint64_t>(
              repeated ? reflection.GetRepeatedDouble(message, &field, i) : reflection.GetDouble(message, &field)));
        });
        break;
      default: break;
    }
  }

  std::uint64_t unknown_ = 0;
  std::uint64_t nans_ = 0;
};

/// Tensors that have the same bytes by being linked to them, beyond the first of each.
std::uint64_t shared_payloads(const LoadedModel& model) {
  std::set<std::pair<const std::byte*, std::size_t>> slices;
  std::uint64_t again = 0;
  for (const Payload& payload : model.payloads) {
    const Bytes bytes = payload.bytes();
    if (!bytes.empty() && !slices.emplace(bytes.data(), bytes.size()).second) ++again;
  }
  return again;
}

}  // namespace

std::vector<Finding> text_losses(const LoadedModel& model, const schema::ModelProto& proto) {
  std::vector<Finding> found;
  const auto add = [&found](std::uint64_t count, const std::string& message) {
    if (count != 0) found.push_back({Severity::warning, Code::onnx_text_loss, {}, message});
  };
  Losses losses;
  losses.look_at(proto);
  add(losses.unknown(), base::concat(losses.unknown(),
                                     " messages have fields that the schema does not know; text cannot "
                                     "carry them"));
  add(losses.nans(), base::concat(losses.nans(), " NaNs in typed fields have a sign or a payload; text has one NaN"));
  if (losses.unknown() == 0 && serialised(proto) != model.skeleton) {
    add(1,
        "the fields of the model are not in the order or encoding that protobuf writes; a model made of the text says "
        "the same in other bytes");
  }
  const std::uint64_t shared = shared_payloads(model);
  add(shared, base::concat(shared, " tensors share the data of another; the text has it for each of them"));
  return found;
}

}  // namespace onnxar
