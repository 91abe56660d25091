// A model with only what inference needs, and with weights from elsewhere where it has none.
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
  bool strip_docs = false;      ///< doc strings, everywhere
  bool strip_metadata = false;  ///< metadata_props, everywhere
  /// Another model, or an `.npz`, whose tensors fill what is open; empty: nothing is filled.
  std::filesystem::path weights = {};
  /// How `weights` and, for the function of two paths, the model are read. Deflated arrays are inflated to a file
  /// without a name in `load.temporary_dir` (empty: the output's folder, else the system's for such files): at most
  /// `load.max_expansion` times the size of the `.npz`, else zip.limit.expansion.
  LoadOptions load = {};
};

/// What was taken out or filled in, or would be.
struct FreezeReport {
  std::uint64_t nodes = 0;  ///< that no output needs, in graph, subgraphs and function bodies
  std::uint64_t initializers = 0;
  std::uint64_t inputs = 0;  ///< of initializers that went: ones that had a default and that nothing used
  std::uint64_t functions = 0;
  std::uint64_t training_infos = 0;
  std::uint64_t opset_imports = 0;   ///< of domains that are used no longer, in the model and its functions
  std::uint64_t filled = 0;          ///< tensors with data from `weights`
  std::vector<std::string> surplus;  ///< names in `weights` that fill nothing
  ConvertReport saved;               ///< by the function of two paths
};

/// Takes out of the model what its outputs do not need: nodes, initializers, functions, training info, and what is said
/// of values that are gone, and imports of operators that are used no longer. What a subgraph uses of the graphs around
/// it is needed. Inputs stay, but for those that give the name of an initializer that goes; outputs and their results
/// are the same.
///
/// First, `options.weights` fills by name initializers without data, and inputs of the graph without an initializer,
/// which become initializers and are inputs no longer. Type and shape must be the same; a named dimension takes any
/// size. Payloads are views of the file. Functions and graphs may be in any order.
///
/// Errors, at the site: onnx.graph.cycle (nodes that wait for each other, a function that calls itself),
/// onnx.graph.dangling (an input or output that nothing gives), onnx.graph.duplicate (a name given twice, a function
/// defined twice), onnx.tensor.no_data (an initializer that is needed and stays open). Of `weights`: onnx.weights.type
/// and .shape (not those of what is to be filled), numpy.array.malformed (no `.npy`, or a damaged one) and .unsupported
/// (Fortran's order, big-endian, records, Python objects), usage.argument (it fills nothing), those of Model::load. The
/// model is then changed in part. Cost: O(messages), and O(bytes) of deflated weights.
FreezeReport freeze(Model& model, const FreezeOptions& options = {});

/// Freezes the model at `input`, and writes it to `output` as `save` says. Errors: those, and as Model::save.
FreezeReport freeze(const std::filesystem::path& input, const std::filesystem::path& output, const SaveOptions& save,
                    const FreezeOptions& options = {});

}  // namespace ONNXAR_API onnxar
