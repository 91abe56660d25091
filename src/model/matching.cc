// Matches the elements of two repeated fields by their names and content.
#include "model/matching.h"

#include <algorithm>
#include <cstddef>

#include "base/keyed_hash.h"
#include "base/text.h"
#include "model/messages.h"
#include "onnx/operators.h"

namespace onnxar {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::string string_in(const Message& message, const std::string& field) {
  const FieldDescriptor* found = message.GetDescriptor()->FindFieldByName(field);
  if (found == nullptr || found->is_repeated() || found->cpp_type() != FieldDescriptor::CPPTYPE_STRING) return {};
  return message.GetReflection()->GetString(message, found);
}

std::string outputs_of(const Message& element) {
  std::string outputs;
  if (const auto* node = as<schema::NodeProto>(element)) {
    // Lengths make keys unambiguous: names may contain any separator.
    for (const std::string& output : node->output()) outputs += base::concat(output.size(), ":", output);
  }
  return outputs;
}

/// The elements of one side, and their matches. Tables make all steps linear in the number of elements, which may be a
/// million nodes.
struct Pending {
  std::vector<const Message*> elements;
  std::vector<bool> matched;
  std::vector<std::string> keys;

  Pending(const Message& message, const FieldDescriptor& field) {
    const int size = message.GetReflection()->FieldSize(message, &field);
    for (int i = 0; i < size; ++i) {
      elements.push_back(&message.GetReflection()->GetRepeatedMessage(message, &field, i));
    }
    matched.resize(elements.size());
    keys.resize(elements.size());
  }

  /// Maps each key to the index of its element, or to -1 if the key is empty or several unmatched elements have it.
  template <typename Key>
  base::KeyedMap<std::string, int> index(const Key& key_of) {
    base::KeyedMap<std::string, int> by_key;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (matched[i]) continue;
      keys[i] = key_of(*elements[i]);
      const auto [at, first] = by_key.emplace(keys[i], static_cast<int>(i));
      if (!first || keys[i].empty()) at->second = -1;
    }
    return by_key;
  }

  /// Returns the unmatched elements whose key is unique, or those whose key is not.
  [[nodiscard]] std::vector<int> left(const base::KeyedMap<std::string, int>& by_key, bool unique) const {
    std::vector<int> numbers;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (!matched[i] && (by_key.at(keys[i]) >= 0) == unique) numbers.push_back(static_cast<int>(i));
    }
    return numbers;
  }
};

class Matcher {
 public:
  Matcher(Pending before, Pending after) : before_(std::move(before)), after_(std::move(after)) {}

  /// Matches elements whose key is unique on both sides.
  template <typename Key>
  void by(const Key& key_of) {
    in_before_ = before_.index(key_of);
    in_after_ = after_.index(key_of);
    for (std::size_t i = 0; i < before_.elements.size(); ++i) {
      if (before_.matched[i] || in_before_.at(before_.keys[i]) < 0) continue;
      const auto partner = in_after_.find(before_.keys[i]);
      if (partner != in_after_.end() && partner->second >= 0) pair(static_cast<int>(i), partner->second);
    }
  }

  /// Matches elements without a unique key in order. Elements with a unique key have no counterpart, and remain
  /// unmatched: nodes with different names are different nodes.
  Matching finish() && {
    const std::vector<int> before = before_.left(in_before_, false);
    const std::vector<int> after = after_.left(in_after_, false);
    for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) pair(before[i], after[i]);
    for (const bool unique : {false, true}) {
      std::ranges::copy(before_.left(in_before_, unique), std::back_inserter(found_.removed));
      std::ranges::copy(after_.left(in_after_, unique), std::back_inserter(found_.added));
    }
    for (auto* list : {&found_.removed, &found_.added}) std::ranges::sort(*list);
    std::ranges::sort(found_.both);
    return std::move(found_);
  }

 private:
  void pair(int before, int after) {
    before_.matched[static_cast<std::size_t>(before)] = true;
    after_.matched[static_cast<std::size_t>(after)] = true;
    found_.both.emplace_back(before, after);
  }

  Pending before_, after_;
  base::KeyedMap<std::string, int> in_before_, in_after_;
  Matching found_;
};

}  // namespace

std::string name_in(const Message& element) {
  if (const auto* function = as<schema::FunctionProto>(element)) {
    const std::string overload = function->overload().empty() ? "" : ":" + function->overload();
    return base::concat(onnx::canonical_domain(function->domain()), ".", function->name(), overload);
  }
  if (const auto* opset = as<schema::OperatorSetIdProto>(element)) {
    return std::string(onnx::domain_name(opset->domain()));
  }
  if (const auto* sparse = as<schema::SparseTensorProto>(element)) return sparse->values().name();
  for (const char* const field : {"name", "key", "tensor_name", "configuration_id"}) {
    std::string name = string_in(element, field);
    if (!name.empty()) return name;
  }
  return {};
}

Matching match(const Message& before, const Message& after, const FieldDescriptor& field) {
  Matcher matcher(Pending(before, field), Pending(after, field));
  matcher.by(name_in);
  if (field.message_type() == schema::NodeProto::descriptor()) matcher.by(outputs_of);
  return std::move(matcher).finish();
}

}  // namespace onnxar
