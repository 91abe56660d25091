// Walks through models of archives in memory.
#pragma once

#include <functional>
#include <optional>

#include "reader/reading.h"
#include "support/samples.h"

namespace onnxar::testing {

inline Blob archive_of_model(const Message& model) { return archive_of(model, {zip_entry("w", pattern(1024))}).bytes; }

/// Walks an archive in memory. The tensors are valid as long as the bytes.
inline std::optional<ReaderFault> walk(
    const Blob& bytes, const std::function<void(const onnxar_reader_walk*, const onnxar_reader_tensor&)>& visit) {
  const Reader archive = opened(bytes);
  return walk_model(archive.get(), onnxar_reader_model(archive.get()), visit);
}

}  // namespace onnxar::testing
