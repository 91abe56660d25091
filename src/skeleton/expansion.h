// What is made of bytes that tensors share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "base/byte_budget.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "skeleton/loaded_model.h"

namespace onnxar {

/// How many bytes there are at these places in memory, each counted once. Cost: O(n log n).
std::uint64_t distinct_bytes(std::vector<Bytes> places);

/// Counts bytes that would be made of an input, and refuses what is out of proportion: tensors may name the same bytes
/// many times, or slices that overlap. Data that is decoded is not shared, and is not counted.
class Expansion {
 public:
  /// Up to `most_times` the `input`, in bytes. `hint` says what to do above it.
  Expansion(std::uint64_t input, std::uint64_t most_times, Hint hint = Hint::max_expansion) noexcept;
  /// Of a model: its files, or what there is of payloads that were given to it in memory.
  explicit Expansion(const LoadedModel& model);

  /// So many bytes more. Errors: onnx.model.expansion.
  void add(std::uint64_t bytes);
  void add(const Payload& payload) { add(payload.span.size()); }
  /// Only if bytes at this place were not added before: payloads that share a place are made once.
  void add_once(const Payload& payload);

  [[nodiscard]] std::uint64_t made() const noexcept { return budget_.made(); }

 private:
  std::filesystem::path path_;  // of the model, for messages
  base::ByteBudget budget_;
  Hint hint_;
  std::set<std::pair<const std::byte*, std::size_t>> seen_;
};

}  // namespace onnxar
