// Infers the shapes of outputs, operator by operator (onnx/docs/Operators.md).
#include "inspect/shape_inference.h"

#include <algorithm>
#include <array>

#include "inspect/shape_rules.h"
#include "onnx/operators.h"

namespace onnxar {
namespace {

using shape_rules::Call;
using shape_rules::Known;
using shape_rules::one;
using shape_rules::Rules;
using shape_rules::Sizes;

Known same(const Call& call) { return {call.input(0)}; }

Known same_shape(const Call& call) { return one(call.shape(0)); }

Known broadcast_all(const Call& call) {
  std::optional<Shape> shape = call.shape(0);
  for (int i = 1; i < call.inputs() && shape; ++i) {
    shape = call.shape(i) ? broadcast(*shape, *call.shape(i)) : std::nullopt;
  }
  return one(shape);
}

/// The output has the shape of the first input.
constexpr auto activations = std::to_array<std::string_view>(
    {"Relu",    "Sigmoid",         "Tanh",      "Erf",      "Gelu",     "Softmax", "LogSoftmax",
     "Hardmax", "Dropout",         "LeakyRelu", "PRelu",    "Elu",      "Selu",    "Celu",
     "Clip",    "HardSigmoid",     "HardSwish", "Softplus", "Softsign", "Mish",    "Swish",
     "Shrink",  "ThresholdedRelu", "FastGelu",  "BiasGelu", "QuickGelu"});
constexpr auto functions =
    std::to_array<std::string_view>({"Exp", "Log", "Sqrt", "Neg", "Abs", "Floor", "Ceil", "Round", "Reciprocal", "Sin",
                                     "Cos", "Not", "Sign", "IsNaN", "CumSum"});
constexpr auto normalizations = std::to_array<std::string_view>(
    {"LayerNormalization", "BatchNormalization", "InstanceNormalization", "GroupNormalization", "RMSNormalization",
     "SimplifiedLayerNormalization", "LpNormalization", "MeanVarianceNormalization", "LRN"});
constexpr auto other_same_shape_ops = std::to_array<std::string_view>(
    {"CastLike", "Trilu", "QuantizeLinear", "DequantizeLinear", "ScatterND", "ScatterElements", "RotaryEmbedding"});
/// The output has the shape of all inputs, broadcast.
constexpr auto broadcasting_ops =
    std::to_array<std::string_view>({"Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "Sum", "Mean", "Mod", "And", "Or",
                                     "Xor", "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Where"});

/// `Identity` and `Cast` also pass on integers, because exporters put them between the nodes that compute a shape.
/// Other operators pass on only the shape.
Rules make_rules() {
  Rules rules = {{"Identity", same}, {"Cast", same}};
  shape_rules::add_layers(rules);
  shape_rules::add_parts(rules);
  shape_rules::add_arithmetic(rules);  // before the loops below: emplace keeps the first rule of an operator
  for (const auto op : activations) rules.emplace(op, same_shape);
  for (const auto op : functions) rules.emplace(op, same_shape);
  for (const auto op : normalizations) rules.emplace(op, same_shape);
  for (const auto op : other_same_shape_ops) rules.emplace(op, same_shape);
  for (const std::string_view op : broadcasting_ops) rules.emplace(op, broadcast_all);
  return rules;
}

bool has_polynomial(const std::optional<Sizes>& sizes) { return sizes && std::ranges::any_of(*sizes, &Size::is_open); }

/// Bounds the work of any rule: a rule reads each value of each input a few times, and makes outputs of that size.
/// Polynomials take more steps than numbers.
std::uint64_t work_of(const schema::NodeProto& node, const Values& values) {
  constexpr std::uint64_t for_number = 4, for_polynomial = 64;
  std::uint64_t each = for_number;
  std::size_t largest = 1;
  for (const std::string& name : node.input()) {
    const KnownValue& input = values.at(name);
    largest = std::max({largest, input.shape ? input.shape->size() : 0, input.integers ? input.integers->size() : 0});
    if (has_polynomial(input.shape) || has_polynomial(input.integers)) each = for_polynomial;
  }
  const auto inputs = static_cast<std::uint64_t>(node.input_size());
  const auto outputs = static_cast<std::uint64_t>(node.output_size());
  return each * largest * (1 + inputs + outputs);
}

}  // namespace

std::vector<KnownValue> infer(const schema::NodeProto& node, const Attributes& attributes, const Values& values) {
  if (!onnx::is_default_domain(node.domain()) && node.domain() != fused_domain) return {};
  static const Rules rules = make_rules();
  const auto rule = rules.find(node.op_type());
  if (rule == rules.end()) return {};
  if (!values.budget().spend(work_of(node, values))) return {};
  std::vector<KnownValue> outputs = rule->second({attributes, values});
  if (values.budget().is_spent()) return {};  // the rule may have missed an input
  for (KnownValue& output : outputs) {        // a chain of nodes must not grow values without a limit
    if (output.shape) output.shape = shape_of(std::move(*output.shape));
    if (output.shape) values.open().make_proper(*output.shape);
    const bool is_partial = output.integers && !std::ranges::all_of(*output.integers, &Size::is_known);
    if (is_partial || (output.integers && output.integers->size() > most_values)) output.integers.reset();
  }
  return outputs;
}

}  // namespace onnxar
