// The tensors of an archive's model, with errors that name the place in the file.
#pragma once

#include <functional>

#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/error.h"
#include "onnxar/options.h"
#include "onnxar/tensor.h"

namespace onnxar {

/// Visits every tensor of the model. Errors: as Archive::model and onnx::walk_tensors.
void walk_archive(const Archive& archive, const LoadOptions& options,
                  const std::function<void(const onnx::TensorSite&)>& visit);

/// Visits every tensor of the model, and then of each further graph in the order of the file, with the graph's entry.
void walk_all_graphs(const Archive& archive, const LoadOptions& options,
                     const std::function<void(const ArchiveEntry& graph, const onnx::TensorSite&)>& visit);

/// `error`, whose offset counts from the model's first byte, with its place in the file. An error that has a place
/// already stays as it is.
Error annotate(const Error& error, const Archive& archive);
/// As above, for any graph of the archive.
Error annotate(const Error& error, const Archive& archive, const ArchiveEntry& graph);

TensorInfo info_of(const onnx::TensorSite& site);

}  // namespace onnxar
