// A test of `show` writes a model and looks into it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "inspect/inspection.h"
#include "support/model_samples.h"

namespace onnxar::testing {

class InspectTest : public ::testing::Test {
 protected:
  static Message weight(std::string_view name, const Dims& dims) {
    std::int64_t size = 4;
    for (const std::int64_t dim : dims) size *= dim;
    return tensor(name, dtype::float32, dims).raw_data(Blob(static_cast<std::size_t>(size)));
  }

  static Message graph_of(const Messages& nodes, const Messages& initializers = {}, const Messages& inputs = {}) {
    return model({.graph = graph({.nodes = nodes, .initializers = initializers, .inputs = inputs})});
  }

  [[nodiscard]] Inspection inspected(const Message& model, bool nodes = false) {
    return onnxar::show(folder_.write_file("m", model.view()), {.nodes = nodes, .files = true});
  }

  TempDir folder_;
};

}  // namespace onnxar::testing
