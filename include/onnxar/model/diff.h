// What differs between two models: their graphs, and their tensors down to the numbers.
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

/// A difference that is not in a tensor. Texts are short and for people; they may hold any byte of the model.
struct GraphChange {
  Change change = Change::changed;
  std::string site;    ///< in the first model, of what was added in the second: `graph.node[3].attr.strides.ints`
  std::string name;    ///< of the innermost thing around it that has one: the node's; cut after 200 bytes
  std::string before;  ///< `[1,1]`, `Conv(x, w) -> y`; empty where it was added
  std::string after;   ///< empty where it was removed
};

/// How the data of two tensors of one type and shape differs.
struct DataDifference {
  std::uint64_t elements = 0;   ///< of either; of a type that is not known, bytes
  std::uint64_t differing = 0;  ///< those whose bits differ
  std::uint64_t first = 0;      ///< the number of the first that differs
  /// Over differing elements that are finite in both; `relative` to the larger magnitude, so at most 2. Of complex
  /// numbers the magnitude of the difference. Nothing for strings, and types that are not known.
  std::optional<double> max_absolute, max_relative;
  std::uint64_t not_finite = 0;  ///< differing elements that are infinite or NaN in either: not in the maxima
};

/// A difference in a tensor at whatever site.
struct TensorChange {
  Change change = Change::changed;
  std::string site;                         ///< as of GraphChange
  std::optional<TensorInfo> before, after;  ///< each with its own site; nothing where it was added or removed
  std::uint64_t bytes_before = 0, bytes_after = 0;
  /// Where type and shape are the same and the data is not.
  std::optional<DataDifference> data;
};

/// A difference in an archive's side file, `tokenizer.json` for one.
struct FileChange {
  Change change = Change::changed;
  std::string name;
  std::uint64_t bytes_before = 0, bytes_after = 0;
  std::uint64_t first = 0;  ///< where it was changed: the first byte that differs, or that only one of them has
};

struct Difference {
  std::vector<GraphChange> graph;
  std::vector<TensorChange> tensors;
  std::vector<FileChange> files;  ///< by name
  std::uint64_t compared = 0;     ///< tensors that are in both

  [[nodiscard]] bool none() const noexcept { return graph.empty() && tensors.empty() && files.empty(); }
};

/// Compares all that stands in the messages, and all data; not where the data lies: a model and its archive are the
/// same. Nodes belong together by their name, else by their outputs; everything else that has a name (or key, or
/// domain) by that; what has none in its order. The order of nodes, tensors and other named things is no difference,
/// that of a graph's inputs and outputs is.
///
/// Payloads are compared where they lie, a piece after another. Errors: as Model::payload, but for data that does not
/// convert: that is compared as it stands; onnx.model.expansion where tensors overlap so much that more than 8 times
/// the bytes that there are would be compared (LoadOptions::max_expansion for the function of two paths). Bytes that
/// tensors share are compared once. Cost: O(fields) + O(bytes).
[[nodiscard]] Difference diff(const Model& before, const Model& after);
/// The same of two files, in whatever form; weights stay in their mappings. Side files are compared where both are
/// archives, as no other form has any. `load.external_data_dir` holds for both. Errors: as Model::load.
[[nodiscard]] Difference diff(const std::filesystem::path& before, const std::filesystem::path& after,
                              const LoadOptions& load = {});

}  // namespace ONNXAR_API onnxar
