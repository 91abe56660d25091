// What is in a model: its graph, its tensors and its files, as data. No weight is read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnxar/error.h"
#include "onnxar/options.h"
#include "onnxar/tensor.h"
#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

/// One dimension of a shape: a number, or a name such as `batch`, or neither.
struct Dimension {
  std::optional<std::int64_t> value;
  std::string name;
};

/// `[n,3,224,?]`; `name` makes of a dimension's name what can stand in the text. Errors: usage.argument (an empty one).
[[nodiscard]] std::string shape_text(const std::vector<Dimension>& dims,
                                     const std::function<std::string(const std::string&)>& name);

/// An input or output of a graph.
struct ValueSummary {
  std::string name;
  std::string type;  ///< `FLOAT`; `sequence(FLOAT)`, `optional(...)`, `map(INT64, FLOAT)`, `sparse(FLOAT)`; empty: none
  std::optional<std::vector<Dimension>> shape;  ///< of a tensor, where one is given
};

struct OpsetSummary {
  std::string domain;  ///< empty: ai.onnx
  std::int64_t version = 0;
};

/// `ai.onnx 17`
[[nodiscard]] std::string to_string(const OpsetSummary& opset);

struct FunctionSummary {
  std::string domain, name, overload;  // here and below, an empty domain is ai.onnx, however the model spells it
  std::vector<std::string> inputs, outputs;
  std::uint64_t nodes = 0;  ///< in its body, subgraphs included
};

/// One node, where it stands; nodes come in the order of the model, those of a subgraph right after the node it is of.
struct NodeSummary {
  std::string site;       ///< `graph.node[3]`, `functions[0].node[1].attr.body.node[0]`
  std::size_t level = 0;  ///< how many subgraphs it is in
  std::string op, domain, name;
  std::vector<std::string> inputs, outputs;
  /// Name and value, as short text: `[3,3]`, `"same"`, `FLOAT[64,3]`, `graph "body"`.
  std::vector<std::pair<std::string, std::string>> attributes;
};

/// Nodes of one operator, in graph, subgraphs and function bodies.
struct OpCount {
  std::string domain, op;
  std::uint64_t nodes = 0;
};

struct TensorTotals {
  std::uint64_t tensors = 0;
  std::uint64_t elements = 0;  ///< as the dimensions have it
  std::uint64_t bytes = 0;     ///< of their data; 0 for strings and unknown types without raw data
};

struct LargeTensor {
  TensorInfo tensor;
  std::uint64_t bytes = 0;
};

/// Multiply-adds of one operator in one run of the graph.
struct OpCost {
  std::string domain, op;
  std::uint64_t nodes = 0;  ///< calls counted: one in a function's body counts each time the function is called
  std::uint64_t multiply_adds = 0;
};

/// What could not be estimated, and why.
struct UnknownCost {
  std::string domain, op;
  std::string reason;      ///< `its shapes are not known`
  std::string first_site;  ///< of the first such node
  std::uint64_t nodes = 0;
};

/// Multiply-adds of Conv, ConvTranspose, MatMul, Gemm, LSTM, GRU, RNN and their integer and fused kin, from shapes that
/// inputs, initializers and value_info give and that follow from those; every other operator counts nothing. Functions
/// and shapes are followed for 64 steps a byte of the model and 16 million; what is left then is among `not_known`.
struct CostEstimate {
  std::uint64_t multiply_adds = 0;     ///< of the graph, functions expanded where they are called
  std::uint64_t in_subgraphs = 0;      ///< of each subgraph once: how often If, Loop and Scan run it is not known
  std::vector<OpCost> by_op;           ///< of the graph, most expensive first
  std::vector<UnknownCost> not_known;  ///< most frequent first
};

/// A name that nothing gives: no input, no initializer, no node.
struct DanglingInput {
  std::string site;  ///< of the node
  std::string name;
};

struct GraphSummary {
  std::string name;
  std::vector<ValueSummary> inputs;  ///< without those that an initializer gives a default
  std::vector<ValueSummary> outputs;
  std::uint64_t nodes = 0;      ///< of the graph itself
  std::uint64_t all_nodes = 0;  ///< with those of subgraphs and function bodies
  std::uint64_t subgraphs = 0;
  std::uint64_t depth = 0;         ///< nodes on the longest path through the graph; without those on cycles
  std::vector<std::string> cycle;  ///< sites of nodes that wait for each other, here, in a subgraph or a function body
  std::vector<DanglingInput> dangling;
  std::vector<OpCount> ops;  ///< most frequent first
};

/// What a block of a file holds.
enum class BlockKind : std::uint8_t {
  data,     ///< of tensors, or a side file
  graph,    ///< the ModelProto but for tensor data in it
  header,   ///< a zip's own records
  padding,  ///< that aligns what follows
  unused,   ///< superseded models of an edited archive, data that no tensor names
};
[[nodiscard]] std::string_view to_string(BlockKind kind) noexcept;

struct FileBlock {
  BlockKind kind = BlockKind::data;
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t size = 0;
  DataType type = DataType::undefined;  ///< of data: the first tensor's
  std::string name;                     ///< of data: the tensor's, or the entry's; of others what they are
};

/// One file of the model; its blocks are in order and cover it.
struct FileMap {
  std::filesystem::path path;
  bool missing = false;  ///< a data file that is not there
  std::uint64_t size = 0;
  std::vector<FileBlock> blocks;
};

enum class ModelForm : std::uint8_t { archive, onnx, textproto };
[[nodiscard]] std::string_view to_string(ModelForm form) noexcept;

/// Where the bytes are.
struct StorageSummary {
  std::uint64_t file_bytes = 0;      ///< of the model's file, or archive
  std::uint64_t model_bytes = 0;     ///< of the ModelProto
  std::uint64_t inline_bytes = 0;    ///< of tensor data in it
  std::uint64_t archived_bytes = 0;  ///< of entries that tensors name
  std::uint64_t external_bytes = 0;  ///< of ranges of other files that tensors name
  std::uint64_t side_bytes = 0;      ///< of entries that no tensor names
  std::uint64_t padding_bytes = 0;
  std::uint64_t unused_bytes = 0;
};

struct Inspection {
  ModelForm form = ModelForm::onnx;
  std::string producer_name, producer_version, domain, doc_string;
  std::int64_t ir_version = 0;
  std::int64_t model_version = 0;
  std::vector<OpsetSummary> opsets;
  std::vector<std::pair<std::string, std::string>> metadata;
  GraphSummary graph;
  std::vector<FunctionSummary> functions;
  std::uint64_t training_infos = 0;

  TensorTotals tensors;  ///< at all sites
  /// Elements of initializers, but for running means and variances of BatchNormalization, which are `statistics`.
  std::uint64_t parameters = 0;
  std::uint64_t statistics = 0;
  std::vector<std::pair<DataType, TensorTotals>> by_type;     ///< most bytes first
  std::vector<std::pair<std::string, TensorTotals>> by_site;  ///< `initializer`, `attribute`, `sparse values`, ...
  std::vector<LargeTensor> largest;

  StorageSummary storage;
  CostEstimate cost;
  std::vector<NodeSummary> nodes;  ///< if asked for
  std::vector<FileMap> files;      ///< if asked for
  std::vector<Finding> remarks;
};

struct InspectOptions {
  bool nodes = false;        ///< list the nodes
  std::string op;            ///< of these only, if not empty
  bool files = false;        ///< map the files
  std::size_t largest = 10;  ///< how many of the largest tensors to name
  LoadOptions load;
};

/// Looks into the model at `path`, an archive or a `.onnx` file in whatever form. A data file that is missing, a cycle
/// or an input that nothing gives is no error but part of the answer. Errors: io.*, zip.*, archive.*, wire.*, onnx.*
/// where model or links cannot be read. Cost: O(model), whatever the weights are.
[[nodiscard]] Inspection show(const std::filesystem::path& path, const InspectOptions& options = {});

[[deprecated("use show")]] [[nodiscard]]
inline Inspection inspect(const std::filesystem::path& path, const InspectOptions& options = {}) {
  return show(path, options);
}

/// The inspection, made with `files`, as one page that stands alone: summary, operators, tensors, and a map of each
/// file to scale. No scripts; names are escaped; light and dark. `title` is what is inspected.
[[nodiscard]] std::string html_page(const Inspection& inspection, const std::string& title);

/// Writes that page; of `save`, what says how to write holds. Errors: output.exists, io.*.
void write_html(const Inspection& inspection, const std::string& title, const std::filesystem::path& output,
                const SaveOptions& save = {});

}  // namespace ONNXAR_API onnxar
