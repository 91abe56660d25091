// Differences between two models: graphs, tensors down to single elements, side files.
//
// Threads: all functions may be called from several threads at once. They only read, as const members of Model do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/model/model.h"
#include "onnxar/options.h"
#include "onnxar/tensor.h"
#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

enum class Change : std::uint8_t { added, removed, changed };
[[nodiscard]] std::string_view to_string(Change change) noexcept;

/// A difference outside of tensors. The texts are short and for people; they may hold any byte of the model.
struct GraphChange {
  Change change = Change::changed;
  std::string site;    ///< `graph.node[3].attr.strides.ints`: in the first model, or for an addition in the second
  std::string name;    ///< of the innermost named thing around it, such as the node; cut after 200 bytes
  std::string before;  ///< `[1,1]`, `Conv(x, w) -> y`; empty for an addition
  std::string after;   ///< empty for a removal
};

/// How the data of two tensors of one type and shape differs.
struct DataDifference {
  std::uint64_t elements = 0;   ///< in each tensor; for an unknown type the number of bytes
  std::uint64_t differing = 0;  ///< elements with different bits
  std::uint64_t first = 0;      ///< index of the first differing element
  /// Maxima over the differing elements that are finite in both. `max_absolute` is at most the largest double.
  /// `max_relative` is relative to the larger magnitude, so it is at most 2. For complex numbers the magnitude of the
  /// difference counts. Empty for strings and unknown types.
  std::optional<double> max_absolute, max_relative;
  std::uint64_t not_finite = 0;  ///< differing elements that are infinite or NaN in either tensor: not in the maxima
};

/// A difference in a tensor, at any site.
struct TensorChange {
  Change change = Change::changed;
  std::string site;                         ///< as in GraphChange
  std::optional<TensorInfo> before, after;  ///< each with its own site; empty for an addition or a removal
  std::uint64_t bytes_before = 0, bytes_after = 0;
  std::optional<DataDifference> data;  ///< set if only the data differs, not type or shape
};

/// A difference in an archive's side file, such as `tokenizer.json`, or in a further graph, which is compared as the
/// model is. `--model` and LoadOptions::graph show what differs in a graph.
struct FileChange {
  Change change = Change::changed;
  std::string name;
  std::uint64_t bytes_before = 0, bytes_after = 0;
  /// Of a changed file: offset of the first byte that differs, or that only one file has; the size if the bytes of a
  /// graph are equal, and the data that it names is not.
  std::uint64_t first = 0;
};

struct Difference {
  std::vector<GraphChange> graph;
  std::vector<TensorChange> tensors;
  std::vector<FileChange> files;  ///< by name
  std::uint64_t compared = 0;     ///< tensors that both models have

  [[nodiscard]] bool none() const noexcept { return graph.empty() && tensors.empty() && files.empty(); }
};

/// Compares the whole content of the messages, and all data, but not where the data is stored: a model equals its
/// archive. Nodes are matched by their names, else by their outputs. Other things are matched by name, key or domain,
/// and those without any by their order. The order of nodes, tensors and other named things does not count; the order
/// of a graph's inputs and outputs does.
///
/// Payloads are compared where they are, piece by piece. Bytes that tensors share are compared once. Errors: as
/// Model::payload, except that data which cannot be converted is compared as it is in the messages;
/// onnx.tensor.length, at the site (the message of a linked tensor was given another shape); onnx.model.expansion if
/// overlapping tensors would have more than 8 times the existing bytes compared (in the function of two paths
/// LoadOptions::max_expansion times). Cost: O(fields) + O(bytes).
[[nodiscard]] Difference diff(const Model& before, const Model& after);
/// Compares two files in any form; weights stay in their mappings. Side files and further graphs are compared if both
/// are archives, because no other form has any; so is the model's name among the graphs (`onnxar.model.name`).
/// `load.external_data_dir` is used for both. `progress` counts the bytes that are compared, of both models. Errors: as
/// Model::load.
[[nodiscard]] Difference diff(const std::filesystem::path& before, const std::filesystem::path& after,
                              const LoadOptions& load = {}, const ProgressCallback& progress = {});

}  // namespace ONNXAR_API onnxar
