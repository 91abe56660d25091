// JSON on stdout, and how the library's types become JSON.
//
// Each verb defines the JSON of its types, in the namespace of the types, where nlohmann's library looks for it. Enums
// become the text of their `to_string`; an optional without a value becomes null.
#pragma once

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>

#include "onnxar/error.h"
#include "onnxar/tensor.h"
#include "shell/hints.h"

namespace onnxar::tool {

/// Keys keep the order in which they were added.
using Json = nlohmann::ordered_json;

/// Prints ASCII only, so that no name can turn or hide what is beside it on a terminal; other characters become \u
/// escapes. Names of tensors may hold any bytes; bytes that are not UTF-8 become U+FFFD.
inline std::string text_of(const Json& document, int indent) {
  return document.dump(indent, ' ', true, Json::error_handler_t::replace);
}
inline void print(const Json& document) { std::cout << text_of(document, 2) << '\n'; }

}  // namespace onnxar::tool

// As NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE, whose functions take sorted objects only and read them back as well: the
// members named become fields of these names, in this order. For use in the namespace of `Type`.
#define ONNXAR_JSON_OF(Type, ...)                                                           \
  inline void to_json(::onnxar::tool::Json& nlohmann_json_j, const Type& nlohmann_json_t) { \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))                \
  }                                                                                         \
  static_assert(true)  // takes the semicolon

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

namespace onnxar {

template <typename Enum>
  requires(std::is_enum_v<Enum> && requires(Enum value) { to_string(value); })
void to_json(tool::Json& json, Enum value) {
  json = to_string(value);
}

inline tool::Json text_or_null(const std::string& text) { return text.empty() ? tool::Json() : tool::Json(text); }

inline void to_json(tool::Json& json, const Finding& finding) {
  json = {{"severity", finding.severity},
          {"code", id(finding.code)},
          {"entry", text_or_null(finding.place.entry)},
          {"offset", finding.place.offset},
          {"message", tool::message_of(finding)}};
}

inline void to_json(tool::Json& json, const Advice& advice) {
  if (advice.hint == Hint::none) return;
  json = {{"id", id(advice.hint)}, {"value", advice.value}, {"text", tool::in_words(advice)}};
}

inline void to_json(tool::Json& json, const TensorInfo& tensor) {
  json = {{"name", tensor.name}, {"dtype", tensor.type}, {"shape", tensor.dims}, {"site", tensor.site}};
}

/// For programs that run this one: the message comes without place and advice.
inline void to_json(tool::Json& json, const Error& error) {
  json = {{"code", id(error.code())},
          {"path", text_or_null(error.path().string())},
          {"entry", text_or_null(error.entry())},
          {"offset", error.offset()},
          {"message", error.message()},
          {"hint", error.advice()}};
}

}  // namespace onnxar
