// Names that somebody may have meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace onnxar {

/// Collects the names that are nearest to one that was not found. Not synchronised.
class NearNames {
 public:
  explicit NearNames(std::string_view wanted) : wanted_(wanted) {}

  /// Names of more than 256 bytes are near to none. Cost: O(length of both) times the few edits that are looked for.
  void consider(std::string_view name);
  /// `; near names: "a", "b"`, or nothing where none is near.
  [[nodiscard]] std::string text() const;

 private:
  std::string wanted_;
  std::vector<std::pair<std::size_t, std::string>> nearest_;  // by distance, nearest first
};

}  // namespace onnxar
