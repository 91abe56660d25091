// A limit on the bytes that are made of an input, as tensors may share bytes.
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

/// The number of bytes at these places in memory, each counted once. Cost: O(n log n).
std::uint64_t distinct_bytes(const std::vector<Bytes>& places);

/// Counts the bytes that would be made of an input, and refuses more than the limit: a hostile model may name the same
/// bytes a million times, or slices that overlap. Decoded data is not shared, so it is not counted.
class Expansion {
 public:
  /// Up to `most_times` the `input`, in bytes. `hint` says what to do above it.
  Expansion(std::uint64_t input, std::uint64_t most_times, Hint hint = Hint::max_expansion) noexcept;
  /// The input of a model is its files, or the payloads that it was given in memory.
  explicit Expansion(const LoadedModel& model);

  /// So many bytes more. Errors: onnx.model.expansion.
  void add(std::uint64_t bytes);
  void add(const Payload& payload) { add(payload.bytes().size()); }
  /// Adds a payload only if no payload with the same bytes was added: those are made once.
  void add_once(const Payload& payload);

  [[nodiscard]] std::uint64_t made() const noexcept { return budget_.made(); }

 private:
  std::filesystem::path path_;  // of the model, for messages
  base::ByteBudget budget_;
  Hint hint_;
  std::set<Extent> seen_;
};

}  // namespace onnxar
