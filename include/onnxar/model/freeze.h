// Freezing a model: fills in missing weights from a file, and removes the parts that inference does not need.
//
// Threads: calls are independent of each other. `freeze` of a Model changes it, so no other thread may use that model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "onnxar/convert.h"
#include "onnxar/model/model.h"
#include "onnxar/options.h"
#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

struct FreezeOptions {
  bool strip_docs = false;      ///< remove all doc strings
  bool strip_metadata = false;  ///< remove all metadata_props
  /// Another model, an `.npz` or a safetensors file, whose tensors give initializers and inputs their data; empty:
  /// none.
  std::filesystem::path weights = {};
  /// How `weights` and, in the function of two paths, the model are read. Deflated arrays are inflated to a nameless
  /// file in `load.temporary_dir` (empty: the output's folder, or else the system's temporary folder): at most
  /// `load.max_expansion` times the size of the `.npz`, beyond that zip.limit.expansion.
  LoadOptions load = {};
};

/// The numbers of things that were removed or filled in.
struct FreezeReport {
  std::uint64_t nodes = 0;  ///< that no output needs, in graph, subgraphs and function bodies
  std::uint64_t initializers = 0;
  std::uint64_t inputs = 0;  ///< whose default value was one of these initializers
  std::uint64_t functions = 0;
  std::uint64_t training_infos = 0;
  std::uint64_t opset_imports = 0;   ///< of domains without a node, in the model and its functions
  std::uint64_t filled = 0;          ///< tensors that got data from `weights`
  std::vector<std::string> surplus;  ///< names in `weights` that no tensor of the model needed
  ConvertReport saved;               ///< set by the function of two paths
};

/// Removes the parts of the model that its outputs do not need: nodes, initializers, functions and training info, facts
/// about removed values, and imports of operator sets without a node. Values that a subgraph uses from the graphs
/// around it are needed. Inputs stay, except those whose default value is a removed initializer. The outputs and their
/// results do not change.
///
/// Before that, `options.weights` gives data, by name, to initializers without data, and to inputs of the graph without
/// an initializer; such an input becomes an initializer. Type and shape must match; a named dimension takes any size.
/// Payloads are views of the file, except data inside the messages of another model, which is copied. Functions and
/// graphs may be in any order.
///
/// Errors, at the site: onnx.graph.cycle (nodes that wait for each other, a function that calls itself),
/// onnx.graph.dangling (an input or output that nothing defines), onnx.graph.duplicate (a value defined twice, a
/// function defined twice), onnx.tensor.no_data (an initializer that is needed and still has no data). Errors of
/// `weights`: onnx.weights.type and .shape (they do not match), numpy.array.malformed (not an `.npy`, or a damaged one)
/// and .unsupported (Fortran order, big-endian, records, Python objects), safetensors.malformed and .type,
/// usage.argument (no tensor needs them), and those of Model::load. After an error the model may be changed in part.
/// Cost: O(messages), plus O(bytes) of deflated weights.
FreezeReport freeze(Model& model, const FreezeOptions& options = {});

/// Freezes the model at `input`, and writes it to `output` as `save` says. Errors: as above, and as Model::save.
FreezeReport freeze(const std::filesystem::path& input, const std::filesystem::path& output, const SaveOptions& save,
                    const FreezeOptions& options = {});

}  // namespace ONNXAR_API onnxar
