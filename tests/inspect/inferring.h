// Infers the shapes of one node's outputs, as text.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "inspect/shape_inference.h"
#include "support/model_samples.h"

namespace onnxar::testing {

/// A node with inputs of these shapes, and the text of its outputs' shapes and values: `[2,?]`, `[2]=3,4`, `?`.
struct Inference {
  Message node;
  std::vector<Dims> inputs = {};  ///< of `x0`, `x1`, ...; -1 is unknown
  Messages initializers = {};
  std::string expected;
};

inline Message integer_tensor(std::string_view name, const std::vector<std::int64_t>& values) {
  return tensor(name, dtype::int64, {static_cast<std::int64_t>(values.size())}).int64_data(values);
}

inline std::string sizes_text(const std::vector<Size>& sizes) {
  std::string text;
  for (const Size& size : sizes) {
    text += (text.empty() ? "" : ",") + (size.number() ? std::to_string(*size.number()) : std::string("?"));
  }
  return text;
}

/// The outputs of the graph's only node, within this number of steps; empty if nothing is known of them.
inline std::string inferred(const Inference& inference, std::uint64_t steps = 100'000) {
  Messages inputs;
  for (const Dims& dims : inference.inputs) {
    inputs.push_back(value_info("x" + std::to_string(inputs.size()), dtype::float32, dims));
  }
  const schema::ModelProto proto = parsed(
      model({.graph = graph({.nodes = {inference.node}, .initializers = inference.initializers, .inputs = inputs})}));
  Budget budget(steps);
  const Bindings none;
  OpenDimensions open(proto.graph(), none, OpenDimensions::Unbound::unknown);
  Values values(budget, open);
  values.add(proto.graph());
  const Attributes attributes(proto.graph().node(0), nullptr, budget);
  std::string text;
  for (const KnownValue& value : infer(proto.graph().node(0), attributes, values)) {
    text += (text.empty() ? "" : " ") + (value.shape ? "[" + sizes_text(*value.shape) + "]" : std::string("?"));
    if (value.integers) text += "=" + sizes_text(*value.integers);
  }
  return text;
}

inline void expect_inferred(const std::vector<Inference>& inferences) {
  for (std::size_t i = 0; i < inferences.size(); ++i) {
    EXPECT_EQ(inferred(inferences[i]), inferences[i].expected) << "row " << i;
  }
}

}  // namespace onnxar::testing
