// A test of `freeze` loads a model that it builds, and changes it.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "onnxar/model/model.h"
#include "support/model_samples.h"
#include "support/refusal.h"

namespace onnxar::testing {

class FreezeTest : public ::testing::Test {
 protected:
  static Message output(std::string_view name) { return value_info(name, dtype::float32, {300}); }
  Model loaded(const Message& model) { return Model::load(folder_.write_file("m", model.view())); }
  Model loaded(const GraphParts& parts) { return loaded(model({.graph = graph(parts)})); }
  ErrorContext refusal(const Message& model) {
    Model bad = loaded(model);
    return refusal_of([&] { return freeze(bad); }).value();
  }
  ErrorContext refusal(const GraphParts& parts) { return refusal(model({.graph = graph(parts)})); }

  TempDir folder_;
};

}  // namespace onnxar::testing
