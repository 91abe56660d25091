// A test of `diff` writes two models and compares the lines of their differences.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/front_end.h"
#include "support/model_samples.h"

namespace onnxar::testing {

class DiffTest : public ::testing::Test {
 protected:
  [[nodiscard]] Difference found(const Message& before, const Message& after) const {
    return diff(folder_.write_file("before", before.view()), folder_.write_file("after", after.view()));
  }
  [[nodiscard]] Difference found(const GraphParts& before, const GraphParts& after) const {
    return found(model({.graph = graph(before)}), model({.graph = graph(after)}));
  }
  /// Formats each change as `changed graph.node[0].op_type n: a -> b`.
  static std::vector<std::string> lines(const Difference& difference) {
    std::vector<std::string> lines;
    for (const GraphChange& change : difference.graph) {
      std::string line = std::string(to_string(change.change)) + " " + change.site;
      if (!change.name.empty()) line += " " + change.name;
      lines.push_back(line + ": " + change.before + " -> " + change.after);
    }
    return lines;
  }

  TempDir folder_;
};

}  // namespace onnxar::testing
