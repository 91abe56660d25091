// Converts differences between models to JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/front_end.h"
#include "onnxar/tensor.h"
#include "shell/json.h"

namespace onnxar {

ONNXAR_JSON_OF(DataDifference, elements, differing, first, max_absolute, max_relative, not_finite);

inline void to_json(tool::Json& json, const GraphChange& change) {
  json = {{"change", change.change}, {"site", change.site}, {"name", change.name}};
  // Both keys are always there, null on the side that has nothing, so that programs need not test for them.
  json["before"] = change.change == Change::added ? tool::Json() : tool::Json(change.before);
  json["after"] = change.change == Change::removed ? tool::Json() : tool::Json(change.after);
}

/// Returns one side of a change.
inline tool::Json side_of(const std::optional<TensorInfo>& tensor, std::uint64_t bytes) {
  if (!tensor) return {};
  return {{"dtype", tensor->type}, {"shape", tensor->dims}, {"bytes", bytes}};
}

inline void to_json(tool::Json& json, const TensorChange& change) {
  const std::string& name = (change.before ? change.before : change.after)->name;
  json = {{"change", change.change}, {"site", change.site}, {"name", name}};
  json["before"] = side_of(change.before, change.bytes_before);
  json["after"] = side_of(change.after, change.bytes_after);
  json["data"] = change.data;
}

inline void to_json(tool::Json& json, const FileChange& file) {
  json = {{"change", file.change}, {"name", file.name}};
  json["before"] = file.change == Change::added ? tool::Json() : tool::Json(file.bytes_before);
  json["after"] = file.change == Change::removed ? tool::Json() : tool::Json(file.bytes_after);
  json["first"] = file.change == Change::changed ? tool::Json(file.first) : tool::Json();
}

}  // namespace onnxar
