// An archive for runtimes that take initializers by name, as bytes in memory.
//
// Where a link (link.h) has the runtime open the archive's file, a feed needs no file: the archive may be in memory,
// part of another file, or removed since it was opened. ONNX Runtime takes one by `AddExternalInitializers`
// (onnxruntime.h does that).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/tensor.h"
#include "onnxar/visibility.h"

namespace ONNXAR_API onnxar {

/// An initializer of the main graph.
struct FedTensor {
  TensorInfo info;
  Bytes bytes;  ///< in the archive's mapping
};

/// What a runtime is given.
struct Feed {
  /// A serialised ModelProto. The tensors below are external data in it, with the locations that they have in the
  /// archive; those that runtimes cannot be given by name (of attributes, subgraphs, functions, sparse tensors) have
  /// their data inside.
  std::vector<std::byte> model;
  std::vector<FedTensor> tensors;
  std::shared_ptr<const void> owner;  ///< keeps their bytes alive; null where the caller of Archive::open does
};

/// The feed of an open archive, which may be gone afterwards. Errors: those of the model's tensors, as `convert`;
/// zip.data.crc (of what is copied: the model, and data that goes inside); onnx.model.too_large, where that makes the
/// model 2 GiB; onnx.model.expansion, where tensors share so much of it that it is over 8 times the archive. Cost:
/// O(model + data that goes inside), and a read of the local headers of linked entries.
Feed make_feed(const Archive& archive);

}  // namespace ONNXAR_API onnxar
