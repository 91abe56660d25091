// Suggests names for a name that was not found.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace onnxar::base {

/// Collects the names that are most similar to a name that was not found. Not synchronised.
class NearNames {
 public:
  explicit NearNames(std::string_view wanted) : wanted_(wanted) {}

  /// Adds `name` if it is similar. Ignores names of more than 256 bytes. Cost: O(length * allowed edits).
  void consider(std::string_view name);
  /// Returns `; near names: "a", "b"`, or an empty string if no name is near.
  [[nodiscard]] std::string text() const;

 private:
  std::string wanted_;
  std::vector<std::pair<std::size_t, std::string>> nearest_;  // by distance, nearest first
};

}  // namespace onnxar::base
