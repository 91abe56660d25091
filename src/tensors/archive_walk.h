// Walks the tensors of an archive's graphs. Errors name the place in the file.
#pragma once

#include <functional>

#include "onnx/sites.h"
#include "onnx/tensor_view.h"
#include "onnxar/archive.h"
#include "onnxar/error.h"
#include "onnxar/options.h"
#include "onnxar/resolve.h"

namespace onnxar {

// Converts a tensor message of any protobuf library to the form that the wire parser gives.

/// Converts `message`, so that the same rules apply to messages and to serialised tensors. The result views the
/// message. All of its offsets are 0, and the ranges of typed fields are unknown. Errors: onnx.tensor.dims,
/// onnx.external_data.duplicate_key.
onnx::TensorView view_of(const TensorMessage& message);

/// Visits every tensor of the model. Errors: as Archive::model and onnx::walk_tensors.
void walk_archive(const Archive& archive, const LoadOptions& options,
                  const std::function<void(const onnx::TensorSite&)>& visit);

/// Visits every tensor of the model, then every tensor of each further graph in the order of the file. `visit` also
/// takes the graph's entry.
void walk_all_graphs(const Archive& archive, const LoadOptions& options,
                     const std::function<void(const ArchiveEntry& graph, const onnx::TensorSite&)>& visit);

/// Visits every tensor of the model or of a graph up to the first fault of its format. Returns whether it has none.
bool read_as_far_as_possible(const Archive& archive, const ArchiveEntry& graph, const LoadOptions& options,
                             const std::function<void(const onnx::TensorSite&)>& visit);

/// Turns the offset of `error`, which counts from the model's first byte, into a place in the file. An error that
/// already has a path or an entry stays as it is.
Error with_place_in(const Error& error, const Archive& archive);
/// As above, for an offset that counts from the first byte of `graph`.
Error with_place_in(const Error& error, const Archive& archive, const ArchiveEntry& graph);

}  // namespace onnxar
