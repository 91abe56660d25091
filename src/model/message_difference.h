// Compares two messages of the same type field by field.
//
// The comparison uses reflection, so that it covers fields that ONNX adds later. It walks two messages at once, and
// matches their elements by name; the walk in model/walk.h has only one model.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/front_end.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// A tensor in both models or in one, with its sites.
struct TensorPair {
  const schema::TensorProto* before = nullptr;
  const schema::TensorProto* after = nullptr;
  std::string site_before, site_after;
};

/// Returns the differences of two models. Pairs of tensors are passed to `tensors`, which compares their data.
std::vector<GraphChange> compare_messages(const schema::ModelProto& before, const schema::ModelProto& after,
                                          const std::function<void(const TensorPair&)>& tensors);

}  // namespace onnxar
