// A description of a model as data: its graph, tensors, cost and files. No weight is read.
//
//   const onnxar::Inspection model = onnxar::show("model.onnxar");
//   use(model.parameters, model.graph.inputs, model.cost.multiply_adds, model.largest);
//
// Threads: all functions may be called concurrently.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/front_end.h"
#include "model/front_end.h"
#include "onnxar/options.h"
#include "onnxar/tensor.h"

namespace ONNXAR_API onnxar {

/// An input or output of a graph.
struct ValueSummary {
  std::string name;
  /// `FLOAT`, `sequence(FLOAT)`, `optional(...)`, `map(INT64, FLOAT)`, `sparse(FLOAT)`; empty if it is not stated.
  std::string type;
  std::optional<std::vector<Dimension>> shape;  ///< of a tensor, if the model states one
};

struct OpsetSummary {
  std::string domain;  ///< empty: ai.onnx
  std::int64_t version = 0;
};

/// `ai.onnx 17`
[[nodiscard]] std::string to_string(const OpsetSummary& opset);

struct FunctionSummary {
  std::string domain, name, overload;  // here and below an empty domain is ai.onnx, in either spelling
  std::vector<std::string> inputs, outputs;
  std::uint64_t nodes = 0;  ///< in its body, subgraphs included
};

/// One node. Nodes are in the order of the model; those of a subgraph come right after the node that has it.
struct NodeSummary {
  std::string site;       ///< `graph.node[3]`, `functions[0].node[1].attr.body.node[0]`
  std::size_t level = 0;  ///< number of subgraphs around it
  std::string op, domain, name;
  std::vector<std::string> inputs, outputs;
  /// Names and values, as short text: `[3,3]`, `"same"`, `FLOAT[64,3]`, `graph "body"`.
  std::vector<std::pair<std::string, std::string>> attributes;
};

/// Nodes of one operator, in graph, subgraphs and function bodies.
struct OpCount {
  std::string domain, op;
  std::uint64_t nodes = 0;
};

struct TensorTotals {
  std::uint64_t tensors = 0;
  std::uint64_t elements = 0;  ///< by the dimensions
  std::uint64_t bytes = 0;     ///< of data; 0 for strings, and for unknown types without raw data
};

struct LargeTensor {
  TensorInfo tensor;
  std::uint64_t bytes = 0;
};

/// Multiply-adds of one operator in one run of the graph.
struct OpCost {
  std::string domain, op;
  std::uint64_t nodes = 0;  ///< calls: a node in a function's body counts once for each call of the function
  std::uint64_t multiply_adds = 0;
};

/// An operator whose cost could not be estimated, with the reason.
struct UnknownCost {
  std::string domain, op;
  std::string reason;      ///< `its shapes are not known`
  std::string first_site;  ///< of the first such node
  std::uint64_t nodes = 0;
};

/// Returns `domain.op`, the operator with its domain. Omits the default domain.
[[nodiscard]] std::string op_name(std::string_view domain, std::string_view op);

/// A number times sizes of dimensions: `4096 * batch * sequence^2`.
struct CostTerm {
  std::int64_t coefficient = 0;
  std::vector<std::pair<std::string, std::uint32_t>> factors;  ///< the names of dimensions, and their exponents
};

/// Sizes of a dimension, both ends included.
struct SizeRange {
  std::string name;  ///< as in InspectOptions::dims
  std::int64_t least = 1;
  std::int64_t most = 2'147'483'647;
};

/// Multiply-adds as a polynomial in the dimensions that the inputs leave open, exact for all sizes in these ranges with
/// which the model runs.
struct CostPolynomial {
  std::vector<CostTerm> terms;   ///< at most 64, of the highest degree first
  std::vector<SizeRange> sizes;  ///< of the names in `terms`, and of those that the model restricts
};

/// `49152*batch*sequence + 128*batch*sequence^2`, or `0`. `name` as for `shape_text`.
[[nodiscard]] std::string to_string(const CostPolynomial& cost,
                                    const std::function<std::string(const std::string&)>& name);

/// Multiply-adds of Conv, ConvTranspose, MatMul, Gemm, LSTM, GRU, RNN and their integer and fused variants; all others
/// count as 0. Shapes come from inputs, initializers and value_info, and are inferred from those. Of an If whose
/// condition follows from shapes and constants, only the branch that runs counts. The number is exact if `not_known` is
/// empty and `in_subgraphs` is 0, otherwise a lower bound. The analysis takes at most 16 million steps plus 64 per byte
/// of the model; nodes that it does not reach are in `not_known`.
struct CostEstimate {
  std::uint64_t multiply_adds = 0;     ///< of the graph, with functions expanded at their calls
  std::uint64_t in_subgraphs = 0;      ///< each counted once: how often If, Loop and Scan run it is unknown
  std::vector<OpCost> by_op;           ///< of the graph, most expensive first
  std::vector<UnknownCost> not_known;  ///< most frequent first
  /// The whole cost, if `multiply_adds` is not exact and the cost follows from the sizes of open dimensions.
  std::optional<CostPolynomial> polynomial;
};

/// An input that no input, initializer or node defines.
struct DanglingInput {
  std::string site;  ///< of the node
  std::string name;
};

struct GraphSummary {
  std::string name;
  std::vector<ValueSummary> inputs;  ///< without those that have a default value, an initializer
  std::vector<ValueSummary> outputs;
  std::uint64_t nodes = 0;      ///< of the graph itself
  std::uint64_t all_nodes = 0;  ///< including subgraphs and function bodies
  std::uint64_t subgraphs = 0;
  std::uint64_t depth = 0;         ///< nodes on the longest path through the graph; nodes on cycles do not count
  std::vector<std::string> cycle;  ///< sites of nodes that wait for each other, in graph, subgraph or function
  std::vector<DanglingInput> dangling;
  std::vector<OpCount> ops;  ///< most frequent first
};

enum class BlockKind : std::uint8_t {
  data,     ///< of tensors, or a side file
  graph,    ///< the ModelProto without tensor data
  header,   ///< records of the zip
  padding,  ///< before aligned data
  unused,   ///< superseded models of an edited archive, data that no tensor names
};
[[nodiscard]] std::string_view to_string(BlockKind kind) noexcept;

struct FileBlock {
  BlockKind kind = BlockKind::data;
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t size = 0;
  DataType type = DataType::undefined;  ///< of data: the first tensor's
  std::string name;                     ///< of data: the tensor's or entry's; otherwise a description
};

/// One file of the model. The blocks are in order and cover the file.
struct FileMap {
  std::filesystem::path path;
  bool missing = false;  ///< the data file does not exist
  std::uint64_t size = 0;
  std::vector<FileBlock> blocks;
};

enum class ModelForm : std::uint8_t { archive, onnx, textproto };
[[nodiscard]] std::string_view to_string(ModelForm form) noexcept;

struct StorageSummary {
  std::uint64_t file_bytes = 0;      ///< of the model's file, or archive
  std::uint64_t model_bytes = 0;     ///< of the ModelProto
  std::uint64_t inline_bytes = 0;    ///< of tensor data in the ModelProto
  std::uint64_t archived_bytes = 0;  ///< of entries that tensors name
  std::uint64_t external_bytes = 0;  ///< of ranges of other files that tensors name
  std::uint64_t side_bytes = 0;      ///< of side files
  std::uint64_t padding_bytes = 0;
  std::uint64_t unused_bytes = 0;
  std::uint64_t graph_bytes = 0;  ///< of further graphs
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
  /// Elements of initializers and of values of Constant nodes; running means and variances of BatchNormalization are
  /// `statistics`.
  std::uint64_t parameters = 0;
  std::uint64_t statistics = 0;
  std::vector<std::pair<DataType, TensorTotals>> by_type;     ///< most bytes first
  std::vector<std::pair<std::string, TensorTotals>> by_site;  ///< `initializer`, `attribute`, `sparse values`, ...
  std::vector<LargeTensor> largest;                           ///< the ten largest tensors

  StorageSummary storage;
  std::vector<GraphTotals> graphs;  ///< of an archive that has several, the model first; empty for others
  CostEstimate cost;
  std::vector<NodeSummary> nodes;  ///< with InspectOptions::nodes
  std::vector<FileMap> files;      ///< with InspectOptions::files
  std::vector<Finding> remarks;
};

struct InspectOptions {
  bool nodes = false;   ///< fill in Inspection::nodes
  std::string op = {};  ///< if not empty, only the nodes of this operator
  bool files = false;   ///< fill in Inspection::files
  LoadOptions load = {};
  /// If set, the number of steps for the estimate of cost, in addition to those for each byte of the model. Fuzzers set
  /// a small number.
  std::optional<std::uint64_t> cost_steps = {};
  /// Sizes with which the cost is counted: {"batch", 1} for an input's dimension with a name, {"x[0]", 1} for a
  /// dimension without a name, and the value of an input that is a single integer, such as a sampling rate. Throws
  /// usage.argument (a name that no input has).
  std::vector<std::pair<std::string, std::int64_t>> dims = {};
};

/// Summarises a model in any form. A missing data file, a cycle or a dangling input is part of the answer, not an
/// error. Throws io.*, zip.*, archive.*, wire.* or onnx.*. Cost: O(model), independent of the size of the weights.
[[nodiscard]] Inspection show(const std::filesystem::path& path, const InspectOptions& options = {});

}  // namespace ONNXAR_API onnxar
