// Limits the size of an output relative to its input, because tensors may share bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/byte_budget.h"
#include "convert/loaded_model.h"
#include "convert/payload.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar {

/// Returns the number of distinct bytes in `places`: bytes in several places count once. Cost: O(n log n).
std::uint64_t distinct_bytes(const std::vector<Bytes>& places);

/// Counts the bytes that an output would have, and refuses more than the limit: a hostile model may name the same bytes
/// a million times, or overlapping slices. Ignores payloads that tensors cannot share.
class Expansion {
 public:
  /// Allows up to `most_times` times `input` bytes. Errors have the advice `hint`.
  Expansion(std::uint64_t input, std::uint64_t most_times, Hint hint = Hint::max_expansion) noexcept;
  /// Sets the limit for `model`. Its input is its files, or the payloads that it received in memory.
  explicit Expansion(const LoadedModel& model);

  /// Counts `bytes` more. Throws onnx.model.expansion.
  void add(std::uint64_t bytes);
  void add(const Payload& payload) { add(payload.may_be_shared ? payload.size() : 0); }

  [[nodiscard]] std::uint64_t made() const noexcept { return budget_.made(); }

 private:
  std::filesystem::path path_;  // path of the model, for messages
  base::ByteBudget budget_;
  Hint hint_;
};

}  // namespace onnxar
