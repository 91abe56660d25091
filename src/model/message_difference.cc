// Compares two messages of the same type field by field.
#include "model/message_difference.h"

#include <google/protobuf/text_format.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "model/matching.h"
#include "model/messages.h"
#include "model/walk.h"
#include "onnx/operators.h"
#include "onnx/site_text.h"

namespace onnxar {
namespace {

using base::concat;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr std::size_t most_characters_shown = 200;
constexpr int most_values_shown = 16;

std::string cut(std::string text) {
  if (text.size() <= most_characters_shown) return text;
  return text.substr(0, most_characters_shown) + "...";
}

template <typename T>
bool is(const FieldDescriptor& field) {
  return field.message_type() == T::descriptor();
}

bool is_absent(const Message& message, const FieldDescriptor& field) {
  const auto& reflection = *message.GetReflection();
  return field.is_repeated() ? reflection.FieldSize(message, &field) == 0 : !reflection.HasField(message, &field);
}

/// True if a field has a tensor's data or location, which is compared as data, or its type or shape, which are part of
/// TensorInfo.
bool is_of_data(const FieldDescriptor& field) {
  constexpr std::array<std::string_view, 10> names = {"dims",       "data_type",    "float_data",  "int32_data",
                                                      "int64_data", "double_data",  "uint64_data", "string_data",
                                                      "raw_data",   "external_data"};
  return field.containing_type() == schema::TensorProto::descriptor() &&
         (std::ranges::find(names, field.name()) != names.end() || field.name() == "data_location");
}

// --- Text ------------------------------------------------------------------------------------------------------------

/// Returns the text of a single value (`index` is -1) or of one in a list.
std::string value_text(const Message& message, const FieldDescriptor& field, int index) {
  const auto& reflection = *message.GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    std::string scratch;
    return index < 0 ? reflection.GetStringReference(message, &field, &scratch)
                     : reflection.GetRepeatedStringReference(message, &field, index, &scratch);
  }
  if (field.name() == "elem_type" || field.name() == "key_type") {
    return to_string(static_cast<DataType>(reflection.GetInt32(message, &field)));
  }
  std::string text;
  google::protobuf::TextFormat::PrintFieldValueToString(message, &field, index, &text);
  return text;
}

std::string in_quotes(const std::string& text, const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_STRING ? concat("\"", cut(text), "\"") : text;
}

/// Returns `[1,2]`; for a long list, some values from `first` on, where the lists begin to differ.
std::string list_text(const Message& message, const FieldDescriptor& field, int first) {
  const int size = message.GetReflection()->FieldSize(message, &field);
  const int begin = size > most_values_shown ? first : 0;
  const int end = std::min(size, begin + most_values_shown);
  std::string text = begin > 0 ? "[... " : "[";
  for (int i = begin; i < end; ++i) {
    text += (i == begin ? "" : ",") + in_quotes(value_text(message, field, i), field);
  }
  return text + (end < size ? concat(" ... ", size, " in all]") : "]");
}

std::string tensor_text(const schema::TensorProto& tensor) {
  return to_string(type_of(tensor)) + shape_text(dims_of(tensor));
}

std::string names_text(const google::protobuf::RepeatedPtrField<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Describes an element that only one model has, in one line.
std::string summary_text(const Message& message) {
  if (const auto* node = as<schema::NodeProto>(message)) {
    const std::string domain = onnx::is_default_domain(node->domain()) ? "" : node->domain() + ".";
    return cut(concat(domain, node->op_type(), "(", names_text(node->input()), ") -> ", names_text(node->output())));
  }
  if (const auto* function = as<schema::FunctionProto>(message)) {
    return cut(concat("function (", names_text(function->input()), ") -> ", names_text(function->output())));
  }
  if (const auto* graph = as<schema::GraphProto>(message)) return concat("graph of ", graph->node_size(), " nodes");
  if (as<schema::TrainingInfoProto>(message) != nullptr) return "training info";
  if (const auto* sparse = as<schema::SparseTensorProto>(message)) return "sparse " + tensor_text(sparse->values());
  if (const auto* attribute = as<schema::AttributeProto>(message)) {
    if (attribute->has_t()) return tensor_text(attribute->t());
    if (attribute->has_g()) return summary_text(attribute->g());
    if (attribute->tensors_size() + attribute->graphs_size() + attribute->sparse_tensors_size() != 0 ||
        attribute->has_sparse_tensor()) {
      return schema::AttributeProto::AttributeType_Name(attribute->type());
    }
  }
  return cut(message.ShortDebugString());
}

// --- Sites -----------------------------------------------------------------------------------------------------------

/// Returns a step of a site: `.node[3]`, `.attr.strides`. The content of an attribute has the attribute's site. Sites
/// of tensors are those of onnx::path_of, which does not know other fields.
std::string step(const Message& parent, const FieldDescriptor& field, const Message* element, int index) {
  std::string subscript = index < 0 ? "" : concat("[", index, "]");
  const bool of_attribute = parent.GetDescriptor() == schema::AttributeProto::descriptor();
  if (of_attribute && element != nullptr && !is<schema::TypeProto>(field)) return subscript;
  if (element != nullptr && is<schema::AttributeProto>(field)) {
    const std::string_view name = onnx::name_for_path(static_cast<const schema::AttributeProto*>(element)->name());
    if (!name.empty()) return concat(field.name() == "attribute" ? ".attr." : "." + field.name() + ".", name);
  }
  return "." + field.name() + subscript;
}

/// Shortens the name, because every change below the element repeats it.
std::string name_of(const Message& element) { return cut(name_in(element)); }

/// Finds the differences of messages. Pairs of tensors are passed to `tensors`, which compares their data.
class MessageDifference {
 public:
  explicit MessageDifference(std::function<void(const TensorPair&)> tensors) : tensors_(std::move(tensors)) {}

  struct Place {
    std::string before, after;  // sites
    std::string name;
  };

  /// REQUIRES: both have the same type.
  void compare(const Message& before, const Message& after, const Place& place) {
    const auto* tensor = as<schema::TensorProto>(before);
    if (tensor != nullptr) tensors_({tensor, as<schema::TensorProto>(after), place.before, place.after});
    const auto* type = before.GetDescriptor();
    for (int i = 0; i < type->field_count(); ++i) {
      if (!is_of_data(*type->field(i))) field(before, after, *type->field(i), place);
    }
    // Fields of a newer schema have no descriptor, so only their bytes can be compared.
    const auto unknown = [](const Message& message) {
      std::string bytes;
      message.GetReflection()->GetUnknownFields(message).SerializeToString(&bytes);
      return bytes;
    };
    const std::string bytes_before = unknown(before);
    const std::string bytes_after = unknown(after);
    if (bytes_before == bytes_after) return;
    changes_.push_back({Change::changed, place.before, place.name,
                        concat(bytes_before.size(), " bytes of unknown fields"),
                        concat(bytes_after.size(), " different bytes")});
  }

  [[nodiscard]] std::vector<GraphChange> changes() && { return std::move(changes_); }

 private:
  using Field = google::protobuf::FieldDescriptor;

  void field(const Message& before, const Message& after, const Field& field, const Place& place) {
    const bool is_message = field.cpp_type() == Field::CPPTYPE_MESSAGE;
    if (is_message && field.is_repeated()) {
      list_of_messages(before, after, field, place);
    } else if (is_message) {
      one_message(before, after, field, place);
    } else {
      values(before, after, field, place);
    }
  }

  void one_message(const Message& before, const Message& after, const Field& field, const Place& place) {
    const auto& reflection = *before.GetReflection();
    const bool in_before = reflection.HasField(before, &field);
    const bool in_after = reflection.HasField(after, &field);
    if (!in_before && !in_after) return;
    const Message& first = reflection.GetMessage(before, &field);
    const Message& second = reflection.GetMessage(after, &field);
    const std::string further = step(before, field, in_before ? &first : &second, -1);
    const Place inside{site_in(place.before, further), site_in(place.after, further), place.name};
    if (!in_after) return only_in(Change::removed, first, inside);
    if (!in_before) return only_in(Change::added, second, inside);
    compare(first, second, inside);
  }

  void list_of_messages(const Message& before, const Message& after, const Field& field, const Place& place) {
    const auto& reflection = *before.GetReflection();
    const auto element_of = [&](const Message& list, int i) -> const Message& {
      return reflection.GetRepeatedMessage(list, &field, i);
    };
    const auto place_of = [&](int in_before, int in_after) {
      Place inside = place;
      const Message& named = in_before >= 0 ? element_of(before, in_before) : element_of(after, in_after);
      if (std::string name = name_of(named); !name.empty()) inside.name = std::move(name);
      if (in_before >= 0) inside.before = site_in(place.before, step(before, field, &named, in_before));
      if (in_after >= 0)
        inside.after = site_in(place.after, step(after, field, &element_of(after, in_after), in_after));
      return inside;
    };
    const Matching found = match(before, after, field);
    for (const auto& [first, second] : found.both) {
      compare(element_of(before, first), element_of(after, second), place_of(first, second));
    }
    // Callers of a graph may pass its inputs and outputs by position. The order of other lists has no meaning.
    const bool positions_count = before.GetDescriptor() == schema::GraphProto::descriptor() &&
                                 (field.name() == "input" || field.name() == "output");
    if (positions_count && !std::ranges::is_sorted(found.both, {}, &std::pair<int, int>::second)) {
      const std::string further = "." + field.name();
      changes_.push_back(
          {Change::changed, site_in(place.before, further), place.name, "in this order", "in a different order"});
    }
    for (const int i : found.removed) only_in(Change::removed, element_of(before, i), place_of(i, -1));
    for (const int i : found.added) only_in(Change::added, element_of(after, i), place_of(-1, i));
  }

  void values(const Message& before, const Message& after, const Field& field, const Place& place) {
    const auto& reflection = *before.GetReflection();
    if (is_absent(before, field) && is_absent(after, field))
      return;  // before a site is made, for most fields of most messages
    const Place inside{site_in(place.before, step(before, field, nullptr, -1)), {}, place.name};
    if (!field.is_repeated()) {
      // An absent field equals its default value. In a oneof, the presence of a member has a meaning.
      const bool presence_counts = field.containing_oneof() != nullptr;
      const bool in_before = !presence_counts || reflection.HasField(before, &field);
      const bool in_after = !presence_counts || reflection.HasField(after, &field);
      const std::string first = in_before ? value_text(before, field, -1) : "";
      const std::string second = in_after ? value_text(after, field, -1) : "";
      if (in_before == in_after && first == second) return;
      changes_.push_back({Change::changed, inside.before, inside.name, in_before ? in_quotes(first, field) : "nothing",
                          in_after ? in_quotes(second, field) : "nothing"});
      return;
    }
    const int size = reflection.FieldSize(before, &field);
    const int other_size = reflection.FieldSize(after, &field);
    int same = 0;
    while (same < std::min(size, other_size) && value_text(before, field, same) == value_text(after, field, same))
      ++same;
    if (same == size && same == other_size) return;
    changes_.push_back(
        {Change::changed, inside.before, inside.name, list_text(before, field, same), list_text(after, field, same)});
  }

  void only_in(Change change, const Message& message, const Place& place) {
    const bool removed = change == Change::removed;
    if (const auto* tensor = as<schema::TensorProto>(message)) {
      return tensors_({removed ? tensor : nullptr, removed ? nullptr : tensor, place.before, place.after});
    }
    const std::string text = summary_text(message);
    changes_.push_back(
        {change, removed ? place.before : place.after, place.name, removed ? text : "", removed ? "" : text});
  }

  std::vector<GraphChange> changes_;
  std::function<void(const TensorPair&)> tensors_;
};

}  // namespace

std::vector<GraphChange> compare_messages(const schema::ModelProto& before, const schema::ModelProto& after,
                                          const std::function<void(const TensorPair&)>& tensors) {
  MessageDifference difference(tensors);
  difference.compare(before, after, {});
  return std::move(difference).changes();
}

}  // namespace onnxar
