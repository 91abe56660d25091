// Limits the size of an output relative to its input, because tensors may share bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <vector>

#include "base/byte_budget.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "skeleton/loaded_model.h"

namespace onnxar {

/// The number of distinct bytes in `places`: bytes that are in several places count once. Cost: O(n log n).
std::uint64_t distinct_bytes(const std::vector<Bytes>& places);

/// Counts the bytes that an output would have, and refuses more than the limit: a hostile model may name the same bytes
/// a million times, or slices that overlap. Decoded payloads need not be added, as tensors cannot share them.
class Expansion {
 public:
  /// Allows up to `most_times` the `input`, in bytes. Above that the error carries `hint`.
  Expansion(std::uint64_t input, std::uint64_t most_times, Hint hint = Hint::max_expansion) noexcept;
  /// The limit for `model`. Its input is its files, or the payloads that it was given in memory.
  explicit Expansion(const LoadedModel& model);

  /// Counts `bytes` more. Errors: onnx.model.expansion.
  void add(std::uint64_t bytes);
  void add(const Payload& payload) { add(payload.bytes().size()); }
  /// Counts a payload unless one with the same extent was counted, as these are written once.
  void add_once(const Payload& payload);

  [[nodiscard]] std::uint64_t made() const noexcept { return budget_.made(); }

 private:
  std::filesystem::path path_;  // of the model, for messages
  base::ByteBudget budget_;
  Hint hint_;
  std::set<Extent> seen_;
};

}  // namespace onnxar
