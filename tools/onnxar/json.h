// JSON on stdout.
#pragma once

#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "onnxar/error.h"
#include "shell/hints.h"

namespace onnxar::tool {

/// Keys stay in the order in which they were put in.
using Json = nlohmann::ordered_json;

/// ASCII alone, so that no name turns or hides what is beside it on a terminal: the rest as \u escapes. Names of
/// tensors may be any bytes; what is not UTF-8 becomes U+FFFD.
inline void print(const Json& document) {
  std::cout << document.dump(2, ' ', true, Json::error_handler_t::replace) << '\n';
}

/// What a program that starts this one needs to tell errors apart: the message without place and advice.
inline Json error_as_json(const Error& error) {
  const Advice& advice = error.advice();
  Json hint;
  if (advice.hint != Hint::none) {
    hint = {{"id", id(advice.hint)}, {"value", advice.value}, {"text", in_words(advice)}};
  }
  return {{"code", id(error.code())},
          {"path", error.path().empty() ? Json() : Json(error.path().string())},
          {"entry", error.entry().empty() ? Json() : Json(error.entry())},
          {"offset", error.offset() ? Json(*error.offset()) : Json()},
          {"message", error.message()},
          {"hint", hint}};
}

inline Json findings_as_json(const std::vector<Finding>& findings) {
  Json rows = Json::array();
  for (const Finding& finding : findings) {
    const Place& place = finding.place;
    rows.push_back({{"severity", to_string(finding.severity)},
                    {"code", id(finding.code)},
                    {"entry", place.entry.empty() ? Json() : Json(place.entry)},
                    {"offset", place.offset ? Json(*place.offset) : Json()},
                    {"message", message_of(finding)}});
  }
  return rows;
}

}  // namespace onnxar::tool
