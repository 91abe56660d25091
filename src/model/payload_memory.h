// Moves the payloads of a model from the files that it was loaded from into memory that the model owns, or into one
// buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "convert/load.h"
#include "onnxar/model/model.h"
#include "onnxar/options.h"

namespace onnxar {

enum class Ownership : std::uint8_t {
  decoded,  ///< only decoded typed data
  all,      ///< all payloads: the model no longer needs its source
};

/// Copies payloads (and side files, if `all`) into memory that the model owns. Reads them through their sources, which
/// verify CRC-32s and checksums. Payloads that shared bytes still share them. Uses `threads` threads (0: all cores).
/// Throws zip.data.crc, onnx.external_data.checksum or onnx.model.expansion (tensors that overlap too often). After an
/// error the model must not be used.
void own_payloads(LoadedModel& model, Ownership ownership, std::size_t threads);

/// Asks the system to read the pages of all mapped payloads, in the background or before the call returns. Throws
/// io.failed.
void prefetch_payloads(const LoadedModel& model, Prefetch prefetch);

/// Moves all payloads of at least `options.threshold` bytes to one buffer and returns it; null if there are none.
/// Verifies like `own_payloads`. Payloads that shared bytes still share them. Throws usage.argument (the alignment),
/// zip.data.crc, onnx.external_data.checksum, onnx.model.expansion or std::bad_alloc. The model is then unchanged.
std::shared_ptr<const void> consolidate(LoadedModel& model, const TensorBufferOptions& options);

}  // namespace onnxar
