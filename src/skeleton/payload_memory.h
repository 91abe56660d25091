// Moves the payloads of a model from the files that it was loaded from into memory that the model owns, or into one
// buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <vector>

#include "base/checked.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/options.h"
#include "skeleton/loaded_model.h"

namespace onnxar {

// Limits the size of an output relative to its input, because tensors may share bytes.

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

enum class Ownership : std::uint8_t {
  decoded,  ///< only decoded typed data
  all,      ///< all payloads: the model no longer needs its source
};

/// Copies payloads (and side files, if `all`) into memory that the model owns. Reads them through their sources, which
/// verify CRC-32s and checksums. Payloads that shared bytes still share them. Uses `threads` threads (0: all cores).
/// Errors: zip.data.crc; onnx.external_data.checksum; onnx.model.expansion (tensors that overlap too often). After an
/// error the model must not be used.
void own_payloads(LoadedModel& model, Ownership ownership, std::size_t threads);

/// Asks the system to read the pages of all mapped payloads, in the background or before the call returns. Errors:
/// io.failed.
void prefetch_payloads(const LoadedModel& model, Prefetch prefetch);

/// Moves all payloads of at least `options.threshold` bytes to one buffer and returns it; null if there are none.
/// Verifies as `own_payloads`. Payloads that shared bytes still share them. Errors: usage.argument (the alignment),
/// zip.data.crc, onnx.external_data.checksum, onnx.model.expansion, std::bad_alloc; the model is then unchanged.
std::shared_ptr<const void> consolidate(LoadedModel& model, const TensorBufferOptions& options);

}  // namespace onnxar
