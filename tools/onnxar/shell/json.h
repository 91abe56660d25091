// Converts the library's types to JSON.
//
// Each verb defines the JSON of its types in the namespace of the types, where argument-dependent lookup finds it.
// Enums become the text of their `to_string`. An empty optional becomes null.
#pragma once

#include <string>
#include <type_traits>

#include "onnxar/error.h"
#include "onnxar/tensor.h"
#include "shell/hints.h"
#include "shell/json_document.h"
#include "shell/paths.h"

namespace onnxar {

template <typename Enum>
  requires(std::is_enum_v<Enum> && requires(Enum value) { to_string(value); })
void to_json(tool::Json& json, Enum value) {
  json = to_string(value);
}

inline tool::Json text_or_null(const std::string& text) { return text.empty() ? tool::Json() : tool::Json(text); }

/// Converts to null for Hint::none.
inline void to_json(tool::Json& json, const Advice& advice) {
  if (advice.hint == Hint::none) return;
  json = {{"id", id(advice.hint)}, {"value", advice.value}, {"text", tool::in_words(advice)}};
}

/// The message includes the advice, for readers. `hint` repeats it for programs that word it themselves.
inline void to_json(tool::Json& json, const Finding& finding) {
  json = {{"severity", finding.severity},
          {"code", id(finding.code)},
          {"entry", text_or_null(finding.place.entry)},
          {"offset", finding.place.offset},
          {"message", tool::message_of(finding)},
          {"hint", finding.advice}};
}

inline void to_json(tool::Json& json, const TensorInfo& tensor) {
  json = {{"name", tensor.name},
          {"dtype", tensor.type},
          {"shape", tensor.dims},
          {"site", tensor.site},
          {"output", text_or_null(tensor.output)}};
}

/// For programs that run this one: the message excludes place and advice, which have fields of their own.
inline void to_json(tool::Json& json, const Error& error) {
  json = {{"code", id(error.code())},
          {"path", text_or_null(tool::utf8_of(error.path()))},
          {"entry", text_or_null(error.entry())},
          {"offset", error.offset()},
          {"message", error.message()},
          {"hint", error.advice()}};
}

}  // namespace onnxar
