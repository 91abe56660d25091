// Where the payloads of a model in memory are: in the files that they were loaded from, in memory that the model owns,
// or in one buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "onnxar/options.h"
#include "skeleton/loaded_model.h"

namespace onnxar {

enum class Ownership : std::uint8_t {
  decoded,  ///< only decoded typed data
  all,      ///< everything: the model does without its source
};

/// Gives the model memory of its own for payloads (and side files, if `all`), read through their sources and so
/// verified where there is a CRC. Payloads that shared their bytes still do. On `threads` threads (0: all cores).
/// Errors: zip.data.crc; onnx.model.expansion (tensors that overlap many times over). After an error the model must not
/// be used.
void own_payloads(LoadedModel& model, Ownership ownership, std::size_t threads);

/// Has the pages of all payloads that lie in a mapping read ahead, or in. Errors: io.failed.
void prefetch_payloads(const LoadedModel& model, Prefetch prefetch);

/// Moves all payloads of at least `options.threshold` bytes to one buffer and returns it; null where there are
/// none. Payloads that shared their bytes still do. Errors: usage.argument (the alignment), zip.data.crc,
/// onnx.model.expansion, std::bad_alloc; nothing is changed then.
std::shared_ptr<const void> consolidate(LoadedModel& model, const TensorBufferOptions& options);

}  // namespace onnxar
