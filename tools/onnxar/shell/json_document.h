// Makes documents of JSON, and prints them.
#pragma once

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace onnxar::tool {

/// Keys keep the order in which they were added.
using Json = nlohmann::ordered_json;

/// Returns ASCII text, in which other characters are \u escapes: a name must not reorder or hide text on a terminal.
/// Names may have any bytes; bytes that are not UTF-8 become U+FFFD.
inline std::string text_of(const Json& document, int indent) {
  return document.dump(indent, ' ', true, Json::error_handler_t::replace);
}
inline void print(const Json& document) { std::cout << text_of(document, 2) << '\n'; }

}  // namespace onnxar::tool

// Makes each named member a field of the same name, in this order. Use it in the namespace of `Type`. nlohmann's own
// NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE only takes objects with sorted keys, and also defines from_json, which we lack.
#define ONNXAR_JSON_OF(Type, ...)                                                           \
  inline void to_json(::onnxar::tool::Json& nlohmann_json_j, const Type& nlohmann_json_t) { \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))                \
  }                                                                                         \
  static_assert(true)  // consumes the semicolon

template <typename Value>
struct nlohmann::adl_serializer<std::optional<Value>> {
  template <typename AnyJson>
  static void to_json(AnyJson& json, const std::optional<Value>& value) {
    if (value) {
      json = *value;
    } else {
      json = nullptr;
    }
  }
};
