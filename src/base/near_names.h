// Suggestions for a name that was not found.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace onnxar {

/// Collects the names that are most similar to one that was not found. Not synchronised.
class NearNames {
 public:
  explicit NearNames(std::string_view wanted) : wanted_(wanted) {}

  /// Names of more than 256 bytes are never near. Cost: O(length of both), times the small number of edits allowed.
  void consider(std::string_view name);
  /// `; near names: "a", "b"`, or nothing if none is near.
  [[nodiscard]] std::string text() const;

 private:
  std::string wanted_;
  std::vector<std::pair<std::size_t, std::string>> nearest_;  // by distance, nearest first
};

}  // namespace onnxar
