// Estimates the multiply-adds of a model.
#include "inspect/cost.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/checked.h"
#include "base/kept.h"
#include "base/keyed_hash.h"
#include "base/text.h"
#include "inspect/shape_inference.h"
#include "inspect/shape_rules.h"
#include "inspect/shapes.h"
#include "model/order.h"
#include "model/walk.h"
#include "onnx/operators.h"

namespace onnxar {
namespace {

// The multiply-adds of a node, operator by operator.

/// The number of multiply-adds, or the reason why it is unknown.
using Estimate = std::variant<Size, std::string_view>;

using shape_rules::Call;
using Counter = std::function<Estimate(const Call&)>;

constexpr std::string_view no_shapes = "its shapes are not known";

Estimate estimate_of(const Size& a, const Size& b) {
  if (!a.is_known() || !b.is_known()) return no_shapes;
  const Size product = a * b;
  return product.is_known() ? Estimate(product) : Estimate(std::string_view("the count is beyond 64 bits"));
}

Size elements_of(const std::optional<Shape>& shape) { return shape ? elements(*shape) : Size(); }

/// Returns the product of all dimensions except the first.
Size rest_of(const std::optional<Shape>& shape) {
  return shape && !shape->empty() ? elements(Shape(shape->begin() + 1, shape->end())) : Size();
}

/// Counts one window of C/group channels for each output element.
Counter convolution(int weights) {
  return [weights](const Call& call) { return estimate_of(elements_of(call.result()), rest_of(call.shape(weights))); };
}

/// Counts one window of M/group channels for each input element.
Estimate transposed_convolution(const Call& call) {
  return estimate_of(elements_of(call.shape(0)), rest_of(call.shape(1)));
}

/// Counts the product of a row and a column for each output element.
Estimate matrix_product(const Call& call) {
  const auto& a = call.shape(0);
  return a && !a->empty() ? estimate_of(elements_of(call.result()), a->back()) : no_shapes;
}

Estimate gemm(const Call& call) {
  const auto& a = call.shape(0);
  if (!a || a->size() != 2) return no_shapes;
  return estimate_of(elements_of(call.result()), (*a)[call.attributes().integer("transA", 0) != 0 ? 0 : 1]);
}

/// Counts the weights of the input and of the state for each step of each sequence.
Estimate recurrent(const Call& call) {
  const auto& x = call.shape(0);
  if (!x || x->size() != 3) return no_shapes;
  return estimate_of((*x)[0] * (*x)[1], elements_of(call.shape(1)) + elements_of(call.shape(2)));
}

/// Returns the operators that are counted.
const base::KeyedMap<std::string_view, Counter>& counters() {
  static const base::KeyedMap<std::string_view, Counter> table = {{"Conv", convolution(1)},
                                                                  {"ConvInteger", convolution(1)},
                                                                  {"FusedConv", convolution(1)},
                                                                  {"QLinearConv", convolution(3)},
                                                                  {"ConvTranspose", transposed_convolution},
                                                                  {"MatMul", matrix_product},
                                                                  {"MatMulInteger", matrix_product},
                                                                  {"QLinearMatMul", matrix_product},
                                                                  {"Gemm", gemm},
                                                                  {"FusedGemm", gemm},
                                                                  {"LSTM", recurrent},
                                                                  {"GRU", recurrent},
                                                                  {"RNN", recurrent},
                                                                  {"DynamicQuantizeLSTM", recurrent}};
  return table;
}

/// Expensive operators that have no estimate. The result lists them, so that a total without them is not mistaken for
/// complete.
bool is_uncounted(std::string_view op) {
  return op == "Einsum" || op == "Attention" || op == "DeformConv" || op == "FusedMatMul" || op == "DFT" ||
         op == "Det" || op == "MultiHeadAttention" || op == "GroupQueryAttention" || op == "MatMulNBits" ||
         op == "STFT";
}

/// True if the domain is one of ONNX.
bool is_standard(std::string_view domain) {
  return onnx::is_default_domain(domain) || domain == "ai.onnx.ml" || domain == "ai.onnx.training" ||
         domain == "ai.onnx.preview.training";
}

/// True if the operator's cost is negligible, as it is for all standard operators that are not counted or uncounted.
bool is_free(const schema::NodeProto& node) { return is_standard(node.domain()) && !is_uncounted(node.op_type()); }

using base::concat;

// Nested functions and subgraphs. Functions may call themselves, so protobuf's limit of depth does not bound recursion,
// and the budget alone would allow more levels than the stack has room for.
constexpr std::size_t most_levels = 100;

constexpr std::string_view too_large = "the limit of steps for a model of this size was reached";

using Op = std::pair<std::string, std::string>;

class Costs {
 public:
  Costs(base::Kept<const schema::ModelProto> model, base::Kept<Budget> budget, base::Kept<OpenDimensions> open)
      : model_(model), budget_(budget), open_(open) {
    for (const auto& function : model_.functions()) {
      functions_.emplace(std::tuple(onnx::canonical_domain(function.domain()), std::string_view(function.name()),
                                    std::string_view(function.overload())),
                         &function);
    }
  }

  void run() {
    Values values(budget_, open_);
    values.add(model_.graph());
    graph(model_.graph(), "graph", values, nullptr, 0);
  }

  /// Returns the parts of the cost that are numbers or unknown.
  [[nodiscard]] CostEstimate estimate() const {
    CostEstimate estimate;
    estimate.multiply_adds = total_;
    estimate.in_subgraphs = in_subgraphs_;
    for (const auto& [op, cost] : by_op_) estimate.by_op.push_back(cost);
    for (const auto& [key, unknown] : unknown_) estimate.not_known.push_back(unknown);
    // Stable, over tables that are sorted by name: equal rows have one order on every machine.
    std::ranges::stable_sort(estimate.by_op, std::ranges::greater(), &OpCost::multiply_adds);
    std::ranges::stable_sort(estimate.not_known, std::ranges::greater(), &UnknownCost::nodes);
    return estimate;
  }

  /// Returns the whole cost. Empty if part of it is not known.
  [[nodiscard]] std::optional<CostPolynomial> polynomial() const {
    return polynomial_ ? std::optional(open_.with_names(*polynomial_)) : std::nullopt;
  }

 private:
  void graph(const schema::GraphProto& graph, const std::string& site, Values& values, const Attributes* call,
             std::size_t level) {
    for (const int i : orders_.of(graph).nodes) node(graph.node(i), site_of_node(site, i), values, call, level);
  }

  /// Pays for the visit of a node. The sizes of its own lists and names bound the work that depends only on the node.
  [[nodiscard]] bool pay_for(const schema::NodeProto& node, std::string_view site) {
    auto lists = static_cast<std::uint64_t>(node.input_size()) + static_cast<std::uint64_t>(node.output_size()) +
                 static_cast<std::uint64_t>(node.attribute_size());
    for (const auto& attribute : node.attribute()) {
      // An empty graph or tensor takes two bytes of the file, and its visit as much work as several names.
      const int messages = attribute.graphs_size() + attribute.tensors_size() + attribute.sparse_tensors_size();
      lists += std::uint64_t{16} * static_cast<std::uint64_t>(messages);
    }
    const std::size_t names = node.op_type().size() + node.domain().size() + node.overload().size() + site.size();
    return budget_.spend(lists + Budget::of_name(names));
  }

  /// True if a node adds nothing, so that it need not be reported when the budget does not reach it.
  [[nodiscard]] bool counts_nothing(const schema::NodeProto& node) const {
    const auto has_graph = [](const auto& attribute) { return attribute.has_g() || attribute.graphs_size() != 0; };
    return !counters().contains(node.op_type()) && is_free(node) && function_of(node) == nullptr &&
           std::ranges::none_of(node.attribute(), has_graph);
  }

  void node(const schema::NodeProto& node, const std::string& site, Values& values, const Attributes* call,
            std::size_t level) {
    if (!pay_for(node, site) || level > most_levels) {
      if (!counts_nothing(node)) add_unknown(node, site, too_large);
      return;
    }
    const Attributes attributes(node, call, budget_);
    const auto* function = function_of(node);
    if (function == nullptr) {
      std::vector<KnownValue> outputs = infer(node, attributes, values);
      for (int i = 0; i < node.output_size() && i < std::ssize(outputs); ++i) {
        values.set(node.output(i), std::move(outputs[static_cast<std::size_t>(i)]));
      }
      count(node, attributes, site, values);
    } else {
      expand(*function, node, attributes, site, values, level);
    }
    if (take_branch(node, attributes, site, values, call, level)) return;
    for_each_subgraph(node, site, [&](const schema::GraphProto& subgraph, const std::string& path) {
      Values inner(budget_, open_, &values);
      inner.add(subgraph);
      ++subgraphs_;  // counted separately: how often a branch or loop body runs is unknown
      graph(subgraph, path, inner, call, level + 1);
      --subgraphs_;
    });
  }

  /// Counts the branch of an If whose condition is known as part of the graph around it, since it runs once. Returns
  /// whether it did.
  bool take_branch(const schema::NodeProto& node, const Attributes& attributes, const std::string& site, Values& values,
                   const Attributes* call, std::size_t level) {
    if (node.op_type() != "If" || !onnx::is_default_domain(node.domain()) || node.input_size() != 1) return false;
    const auto& condition = values.at(node.input(0)).integers;
    if (!condition || condition->size() != 1) return false;
    const std::string_view name = condition->front() != 0 ? "then_branch" : "else_branch";
    const auto* branch = attributes.find(name);
    if (branch == nullptr || !branch->has_g()) return false;
    Values inner(budget_, open_, &values);
    inner.add(branch->g());
    graph(branch->g(), concat(site, ".attr.", name), inner, call, level + 1);
    for (int i = 0; i < node.output_size() && i < branch->g().output_size(); ++i) {
      values.set(node.output(i), inner.at(branch->g().output(i).name()));
    }
    return true;
  }

  [[nodiscard]] const schema::FunctionProto* function_of(const schema::NodeProto& node) const {
    const auto found = functions_.find(std::tuple(onnx::canonical_domain(node.domain()),
                                                  std::string_view(node.op_type()), std::string_view(node.overload())));
    return found == functions_.end() ? nullptr : found->second;
  }

  /// Estimates a function's body with the shapes of the call.
  void expand(const schema::FunctionProto& function, const schema::NodeProto& node, const Attributes& attributes,
              const std::string& site, Values& values, std::size_t level) {
    Values body(budget_, open_);
    for (int i = 0; i < function.input_size() && i < node.input_size(); ++i) {
      body.set(function.input(i), values.at(node.input(i)));
    }
    // value_info of the function is ignored: it cannot hold for calls with different shapes.
    for (int i = 0; i < function.node_size(); ++i) {
      this->node(function.node(i), site, body, &attributes,
                 level + 1);  // the site of the call: the user sees that node
    }
    for (int i = 0; i < function.output_size() && i < node.output_size(); ++i) {
      values.set(node.output(i), body.at(function.output(i)));
    }
  }

  void count(const schema::NodeProto& node, const Attributes& attributes, const std::string& site,
             const Values& values) {
    const auto counter = counters().find(node.op_type());
    // An operator of a different domain may share a name with one of ours and compute something else.
    const bool is_ours = is_standard(node.domain()) || node.domain() == fused_domain;
    if (counter == counters().end() || !is_ours || node.output_size() == 0) {
      if (!is_free(node)) {
        add_unknown(node, site, is_uncounted(node.op_type()) ? "not estimated" : "unknown operator");
      }
      return;
    }
    Estimate estimate = counter->second(Call(attributes, values));
    if (budget_.is_spent()) estimate = too_large;  // the counter may have missed a shape
    if (const auto* why = std::get_if<std::string_view>(&estimate)) {
      add_unknown(node, site, *why);
      return;
    }
    const Size& cost = std::get<Size>(estimate);
    add_to_polynomial(cost);
    if (!cost.number()) return;  // only for polynomials
    const auto multiply_adds = static_cast<std::uint64_t>(*cost.number());
    std::uint64_t& sum = subgraphs_ == 0 ? total_ : in_subgraphs_;
    const auto more = base::checked_add(sum, multiply_adds);
    if (!more) {
      add_unknown(node, site, "the sum is beyond 64 bits");
      return;
    }
    sum = *more;
    if (subgraphs_ != 0) return;
    const std::string domain(onnx::canonical_domain(node.domain()));
    OpCost& row = by_op_[{domain, node.op_type()}];
    row.domain = domain;
    row.op = node.op_type();
    ++row.nodes;
    row.multiply_adds += multiply_adds;
  }

  void add_to_polynomial(const Size& cost) {
    constexpr std::size_t most_terms = 64;
    if (!polynomial_ || cost == 0) return;
    const bool fits = subgraphs_ == 0 && budget_.spend(most_terms) &&
                      add_multiple(*polynomial_, cost.polynomial(), 1) && polynomial_->size() <= most_terms;
    if (!fits) polynomial_.reset();
  }

  void add_unknown(const schema::NodeProto& node, const std::string& site, std::string_view reason) {
    polynomial_.reset();
    const std::string domain(onnx::canonical_domain(node.domain()));
    UnknownCost& unknown = unknown_[{domain, node.op_type(), std::string(reason)}];
    if (unknown.nodes++ != 0) return;
    unknown.domain = domain;
    unknown.op = node.op_type();
    unknown.reason = reason;
    unknown.first_site = site;
  }

  const schema::ModelProto& model_;
  Budget& budget_;
  OpenDimensions& open_;
  Orders orders_;  // kept over calls: a subgraph is ordered once, even if its function is expanded often
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, const schema::FunctionProto*> functions_;
  std::map<Op, OpCost> by_op_;
  std::map<std::tuple<std::string, std::string, std::string>, UnknownCost> unknown_;
  std::uint64_t total_ = 0;
  std::uint64_t in_subgraphs_ = 0;
  std::optional<Polynomial> polynomial_ = Polynomial();  // the sum of all costs, until one is not known
  std::size_t subgraphs_ = 0;                            // around the current node
};

std::optional<CostPolynomial> polynomial_of(const schema::ModelProto& model, Budget& budget, const Bindings& bindings) {
  OpenDimensions open(model.graph(), bindings, OpenDimensions::Unbound::variable);
  if (!open.has_variables()) return std::nullopt;
  Costs costs(model, budget, open);
  costs.run();
  return costs.polynomial();
}

}  // namespace

/// Makes two passes, because the result of the first one holds for all sizes, even those that the second one excludes.
CostEstimate estimate_cost(const schema::ModelProto& model, Budget& budget, const Bindings& bindings) {
  OpenDimensions closed(model.graph(), bindings, OpenDimensions::Unbound::unknown);
  Costs costs(model, budget, closed);
  costs.run();
  CostEstimate estimate = costs.estimate();
  const bool is_exact = estimate.not_known.empty() && estimate.in_subgraphs == 0;
  if (!is_exact) estimate.polynomial = polynomial_of(model, budget, bindings);
  return estimate;
}

}  // namespace onnxar
