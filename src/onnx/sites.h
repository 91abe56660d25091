// Finds every tensor of a model.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "onnx/tensor_view.h"
#include "onnx/wire.h"
#include "onnxar/bytes.h"

namespace onnxar::onnx {

// Domains of operators. The default domain has two spellings. All code that compares domains uses these functions.

/// The name of the default domain, which has ONNX's own operators. Models may also write it as an empty string.
inline constexpr std::string_view default_domain = "ai.onnx";

constexpr bool is_default_domain(std::string_view domain) noexcept {
  return domain.empty() || domain == default_domain;
}

/// Gives each domain one spelling, for comparing and counting: the default domain is empty.
constexpr std::string_view canonical_domain(std::string_view domain) noexcept {
  return is_default_domain(domain) ? std::string_view() : domain;
}

/// Returns the domain for output: the default domain has its name.
constexpr std::string_view domain_name(std::string_view domain) noexcept {
  return is_default_domain(domain) ? default_domain : domain;
}

// The text of a site, which is a place in a model.

/// Limits of the bytes of a site, and of an attribute's name in it. They keep the list of all sites linear in the
/// model's size, which deep nesting and long names could make quadratic. Sites of ordinary models are far shorter.
inline constexpr std::size_t longest_site = 200;
inline constexpr std::size_t longest_name_in_site = 64;

/// Appends a step, `.node[3]`, `.attr.value` or `[2]`, to a site; the first step loses its dot. If the site would be
/// too long, its middle is replaced by `~` and 16 digits, a hash of all steps so far:
/// `graph.node[0].attr.body.no~0123456789abcdef.initializer[7]`.
void append_step(std::string& site, std::string_view step);

/// Appends the step for a field with this label (empty: the value of an attribute), its index if it is repeated, and
/// its `name_for_path` if it is an attribute.
void append_step(std::string& site, std::string_view label, std::optional<std::uint64_t> index, std::string_view name);

/// Returns an attribute's name for a site. Empty if it is not an identifier or is too long; the site then has its
/// number.
std::string_view name_for_path(std::string_view attribute) noexcept;

/// The kind of a tensor's place. Kinds are distinguished where the rules for moving data out differ (W8).
enum class SiteKind : std::uint8_t {
  initializer,       ///< of a graph or subgraph, also in a function body
  attribute,         ///< `t` or `tensors` of a node
  sparse_values,     ///< values of a sparse initializer or attribute
  sparse_indices,    ///< indices of these, which are never moved out
  function_default,  ///< anything beneath FunctionProto.attribute_proto
  training,          ///< anything beneath ModelProto.training_info
};

enum class Message : std::uint8_t { model, graph, node, function, attribute, training, sparse, tensor };

/// One embedded message on the path from the model to a tensor.
struct Level {
  Message message = Message::model;
  std::string_view label;  ///< the field's name
  bool repeated = false;
  std::uint64_t index = 0;  ///< among the fields of this number
  Field field;
  std::string_view name;  ///< of an attribute, by name_for_path
};

/// Returns the text of a site: `graph.node[3].attr.value`, `graph.initializer[7]`, `functions[0].node[1].attribute[0]`.
/// Attributes have their name if it is an identifier. At most `longest_site` bytes. The levels are below the site
/// `root`, unless it is empty.
std::string path_of(std::span<const Level> levels, const std::string& root = {});

/// Returns the last string field `number` of the message. Empty if it has none or is damaged, which a walk reports.
std::string_view string_in(Bytes model, Range message, std::uint32_t number) noexcept;
/// Returns the operator of the NodeProto at `node`, such as "Constant"; empty if it has none or is damaged before that
/// field.
std::string_view op_type_of(Bytes model, Range node) noexcept;
/// Returns the domain of its operator; empty in the same cases.
std::string_view domain_of(Bytes model, Range node) noexcept;
/// True if it is a Constant node of the default domain.
bool is_constant(Bytes model, Range node) noexcept;

/// A tensor and its place. Valid only during the visit.
struct TensorSite {
  const TensorView& tensor;
  SiteKind kind;
  std::span<const Level> levels;  ///< from the model's child down to the tensor
  Bytes model;

  [[nodiscard]] std::string path() const { return path_of(levels); }
  /// True if it is in a graph that an attribute of a node holds, such as a branch of an If.
  [[nodiscard]] bool is_in_subgraph() const noexcept;
  /// True if it is an initializer of the model's graph itself.
  [[nodiscard]] bool is_main_initializer() const noexcept;
  /// Returns the output of the Constant node that has the tensor as its value; empty if no such node has it. Cost:
  /// O(fields of the node), so a walk that asks each tensor stays linear.
  [[nodiscard]] std::string_view constant_output() const noexcept;
};

/// Visits every tensor of the serialised ModelProto, in wire order. Does not touch the bytes of raw data. Throws
/// wire.*, onnx.model.invalid (no graph) or what `read_tensor` throws; offsets in errors count from the model's first
/// byte. Cost: O(number of fields).
void walk_tensors(Bytes model, const std::function<void(const TensorSite&)>& visit);

/// Visits every graph and function of the model before its contents, with the levels from the model's child down to it.
/// Throws what `walk_tensors` throws, except errors of tensors.
void walk_graphs(Bytes model, const std::function<void(std::span<const Level>)>& visit);

}  // namespace onnxar::onnx
