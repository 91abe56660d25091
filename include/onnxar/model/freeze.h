// Freezes a model: fills in missing weights from a file, and removes the parts that inference does not need.
//
//   onnxar::freeze("model.onnx", "frozen.onnxar", {}, {.weights = "weights.safetensors"});
//
// Threads: calls are independent of each other.
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
  bool strip_docs = false;             ///< remove all doc strings
  bool strip_metadata = false;         ///< remove all metadata_props
  std::filesystem::path weights = {};  ///< another model, an `.npz` or a safetensors file, with data for initializers
  /// How `weights` and, in the function of two paths, the model are read. Deflated arrays are inflated to a nameless
  /// file in `load.temporary_dir`, up to `load.max_expansion` times the `.npz`; beyond it: zip.limit.expansion.
  LoadOptions load = {};
};

/// Numbers of things that were removed or filled in.
struct FreezeReport {
  std::uint64_t nodes = 0;  ///< that no output needs, in graph, subgraphs and function bodies
  std::uint64_t initializers = 0;
  std::uint64_t inputs = 0;  ///< whose default value was one of these initializers
  std::uint64_t functions = 0;
  std::uint64_t training_infos = 0;
  std::uint64_t opset_imports = 0;   ///< of domains without a node, in the model and its functions
  std::uint64_t filled = 0;          ///< tensors that got data from `weights`
  std::vector<std::string> surplus;  ///< names in `weights` that no tensor of the model needed
  ConvertReport saved;               ///< by the function of two paths
};

/// Removes what the model's outputs do not need: nodes, initializers, functions, training info, facts about removed
/// values, and imports of operator sets without a node. Values that a subgraph uses from around it are needed. Inputs
/// stay, except those whose default value is a removed initializer. The results do not change.
///
/// Before that, `options.weights` gives data, by name, to initializers without data and to inputs of the graph, which
/// become initializers. Type and shape must match; a named dimension takes any size. Payloads are views of the file,
/// except data inside the messages of another model, which is copied.
///
/// Errors, at the site: onnx.graph.* (.cycle: nodes that wait for each other, a function that calls itself; .dangling:
/// an input or output that nothing defines; .duplicate: a value or function defined twice), onnx.tensor.no_data (a
/// needed initializer). Of `weights`: onnx.weights.* (.type, .shape), numpy.array.* (.unsupported: Fortran order,
/// big-endian, records, Python objects), safetensors.*, usage.argument (no tensor needs them), as Model::load. After an
/// error the model may be changed in part. Cost: O(messages), plus O(bytes) of deflated weights.
FreezeReport freeze(Model& model, const FreezeOptions& options = {});

/// From file to file. Errors: as above, and as Model::save.
FreezeReport freeze(const std::filesystem::path& input, const std::filesystem::path& output, const SaveOptions& save,
                    const FreezeOptions& options = {});

}  // namespace ONNXAR_API onnxar
