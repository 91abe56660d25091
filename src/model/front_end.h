// Functions that the library exports for the command: text of a model in any form, shapes, and the differences between
// two models as data. Threads: all functions may be called concurrently.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/model/model.h"

namespace ONNXAR_API onnxar {

// --- Text ------------------------------------------------------------------------------------------------------------

struct TextOptions {
  /// Print the data of all tensors, so the text makes an equal model. Otherwise payloads of at least `load.threshold`
  /// bytes become a comment, external tensors keep their links, and no data is read.
  bool with_data = false;
  LoadOptions load = {};
};

struct TextReport {
  std::uint64_t left_out = 0;    ///< payloads that became a comment
  std::vector<Finding> remarks;  ///< with data: what text cannot carry (unknown fields, NaNs with a payload, ...)
};

/// Prints a model in any form to `sink`, in pieces; payloads are never gathered in memory. Throws what `unpack` throws,
/// onnx.model.invalid or usage.argument (an empty sink).
TextReport dump(const std::filesystem::path& model, const ByteSink& sink, const TextOptions& options = {});

/// Writes a model as text with all data; side files too if `output` is a folder, as `unpack` does. Only those members
/// of `save` apply that control how to write. Makes the remarks and throws the errors of `unpack` and of the `dump`
/// above.
ConvertReport dump(const std::filesystem::path& input, const std::filesystem::path& output, const SaveOptions& save,
                   const LoadOptions& load = {});

// --- Shapes ----------------------------------------------------------------------------------------------------------

/// A number, or a name such as `batch`, or neither.
struct Dimension {
  std::optional<std::int64_t> value;
  std::string name;
};

/// `[n,3,224,?]`. `name` makes the name of a dimension printable. Throws usage.argument (an empty `name`).
[[nodiscard]] std::string shape_text(const std::vector<Dimension>& dims,
                                     const std::function<std::string(const std::string&)>& name);

// --- Differences -----------------------------------------------------------------------------------------------------

enum class Change : std::uint8_t { added, removed, changed };
[[nodiscard]] std::string_view to_string(Change change) noexcept;

/// A difference outside of tensors. The texts are short and for people; they may hold any byte of the model.
struct GraphChange {
  Change change = Change::changed;
  std::string site;    ///< `graph.node[3].attr.strides.ints`: in the first model, of an addition in the second
  std::string name;    ///< of the innermost named element around it, such as the node; cut after 200 bytes
  std::string before;  ///< `[1,1]`, `Conv(x, w) -> y`; empty for an addition
  std::string after;   ///< empty for a removal
};

/// The difference between the data of two tensors of one type and shape.
struct DataDifference {
  std::uint64_t elements = 0;   ///< in each tensor; for an unknown type the number of bytes
  std::uint64_t differing = 0;  ///< elements with different bits
  std::uint64_t first = 0;      ///< index of the first differing element
  /// Maxima over the differing elements that are finite in both; empty for strings and unknown types. The relative one
  /// refers to the larger magnitude, so it is at most 2; the absolute one is at most the largest double. For complex
  /// numbers, the magnitude of the difference.
  std::optional<double> max_absolute, max_relative;
  std::uint64_t not_finite = 0;  ///< differing elements that are infinite or NaN in either tensor
};

/// A difference in a tensor at any site.
struct TensorChange {
  Change change = Change::changed;
  std::string site;                         ///< as in GraphChange
  std::optional<TensorInfo> before, after;  ///< each with its own site; empty for an addition or a removal
  std::uint64_t bytes_before = 0, bytes_after = 0;
  std::optional<DataDifference> data;  ///< set if only the data differs, not type or shape
};

/// A difference in a side file or in a further graph. Use LoadOptions::graph to compare a graph.
struct FileChange {
  Change change = Change::changed;
  std::string name;
  std::uint64_t bytes_before = 0, bytes_after = 0;
  /// For a changed file, the offset of the first byte that differs, or that only one has; the size if only the data
  /// that a graph names differs.
  std::uint64_t first = 0;
};

struct Difference {
  std::vector<GraphChange> graph;
  std::vector<TensorChange> tensors;
  std::vector<FileChange> files;  ///< by name
  std::uint64_t compared = 0;     ///< tensors that both models have

  [[nodiscard]] bool none() const noexcept { return graph.empty() && tensors.empty() && files.empty(); }
};

/// Compares the whole content of the messages and all data, but not the place of the data: a model equals its archive.
/// Nodes are matched by name or else by their outputs, other elements by name, key or domain or else by their order.
/// The order of nodes, tensors and other named elements does not count, except that of a graph's inputs and outputs. Of
/// two archives, side files, further graphs and the model's name (`onnxar.model.name`) are compared, too.
///
/// The files may have any form. Weights stay in their mappings, and bytes that tensors share are compared only once.
/// `progress` counts the bytes of both. Throws what `Model::load` and `Model::payload` throw (data that cannot be
/// converted is compared as it is), onnx.model.expansion (overlapping tensors: more than LoadOptions::max_expansion
/// times the existing bytes) or zip.data.crc (what differs is damaged: CRC-32s of an archive's model, and of what
/// differs, are compared). Cost: O(fields + bytes).
[[nodiscard]] Difference diff(const std::filesystem::path& before, const std::filesystem::path& after,
                              const LoadOptions& load = {}, const ProgressCallback& progress = {});

}  // namespace ONNXAR_API onnxar
