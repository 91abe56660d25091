#include "cost/cost.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/checked.h"
#include "base/keyed_hash.h"
#include "base/text.h"
#include "cost/shapes.h"
#include "graph/order.h"
#include "graph/walk.h"
#include "onnx/domains.h"

namespace onnxar {
namespace {

using base::concat;

// Nested functions and subgraphs. Functions may call themselves, so protobuf's limit of depth does not bound recursion,
// and the budget alone would allow more levels than the stack has room for.
constexpr std::size_t most_levels = 100;

constexpr std::string_view no_shapes = "its shapes are not known";
constexpr std::string_view too_large = "the limit of steps for a model of this size was reached";

/// The number of multiply-adds, or the reason why it is unknown.
using Estimate = std::variant<std::uint64_t, std::string_view>;

Estimate estimate_of(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
  if (!a || !b) return no_shapes;
  const auto product = base::checked_multiply(*a, *b);
  return product ? Estimate(*product) : Estimate(std::string_view("the count is beyond 64 bits"));
}

std::optional<std::uint64_t> elements_of(const std::optional<Shape>& shape) {
  return shape ? elements(*shape) : std::nullopt;
}

/// The product of all dimensions except the first.
std::optional<std::uint64_t> rest_of(const std::optional<Shape>& shape) {
  if (!shape || shape->empty()) return std::nullopt;
  return elements(Shape(shape->begin() + 1, shape->end()));
}

/// A node whose output shapes have been inferred.
class Product {
 public:
  Product(const schema::NodeProto& node, const Attributes& attributes, const Values& values)
      : node_(node), attributes_(attributes), values_(values) {}

  [[nodiscard]] const std::optional<Shape>& input(int index) const {
    static const std::optional<Shape> none;
    return index < node_.input_size() ? values_.shape(node_.input(index)) : none;
  }
  [[nodiscard]] const std::optional<Shape>& output() const { return values_.shape(node_.output(0)); }
  [[nodiscard]] const Attributes& attributes() const { return attributes_; }

 private:
  const schema::NodeProto& node_;
  const Attributes& attributes_;
  const Values& values_;
};

using Counter = std::function<Estimate(const Product&)>;

/// Each output element sums a window of C/group channels.
Counter convolution(int weights) {
  return
      [weights](const Product& node) { return estimate_of(elements_of(node.output()), rest_of(node.input(weights))); };
}

/// Each input element adds to a window of M/group channels.
Estimate transposed_convolution(const Product& node) {
  return estimate_of(elements_of(node.input(0)), rest_of(node.input(1)));
}

/// Each output element is the product of a row and a column.
Estimate matrix_product(const Product& node) {
  const auto& a = node.input(0);
  if (!a || a->empty() || a->back() < 0) return no_shapes;
  return estimate_of(elements_of(node.output()), static_cast<std::uint64_t>(a->back()));
}

Estimate gemm(const Product& node) {
  const auto& a = node.input(0);
  if (!a || a->size() != 2) return no_shapes;
  const std::int64_t inner = (*a)[node.attributes().integer("transA", 0) != 0 ? 0 : 1];
  if (inner < 0) return no_shapes;
  return estimate_of(elements_of(node.output()), static_cast<std::uint64_t>(inner));
}

/// Each step of each sequence multiplies by the weights of the input and of the state.
Estimate recurrent(const Product& node) {
  const auto& x = node.input(0);
  const auto w = elements_of(node.input(1));
  const auto r = elements_of(node.input(2));
  if (!x || x->size() != 3 || !w || !r) return no_shapes;
  return estimate_of(elements(Shape(x->begin(), x->begin() + 2)), base::checked_add(*w, *r));
}

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

/// Expensive operators that have no estimate. The result lists them, so that a total without them is not taken as
/// complete.
bool is_uncounted(std::string_view op) {
  return op == "Einsum" || op == "Attention" || op == "DeformConv" || op == "FusedMatMul" || op == "DFT" ||
         op == "Det" || op == "MultiHeadAttention" || op == "GroupQueryAttention" || op == "MatMulNBits" ||
         op == "STFT";
}

bool is_standard(std::string_view domain) {
  return onnx::is_default_domain(domain) || domain == "ai.onnx.ml" || domain == "ai.onnx.training" ||
         domain == "ai.onnx.preview.training";
}

/// Whether the operator's cost is negligible, as it is for all standard operators that are not named above.
bool is_free(const schema::NodeProto& node) { return is_standard(node.domain()) && !is_uncounted(node.op_type()); }

using Op = std::pair<std::string, std::string>;

class Costs {
 public:
  /// `bindings` may be null.
  Costs(const schema::ModelProto& model, Budget& budget, const Bindings* bindings)
      : model_(model), budget_(budget), bindings_(bindings) {
    for (const auto& function : model.functions()) {
      functions_.emplace(std::tuple(onnx::canonical_domain(function.domain()), std::string_view(function.name()),
                                    std::string_view(function.overload())),
                         &function);
    }
  }

  CostEstimate run() && {
    Values values(budget_, nullptr, bindings_);
    values.add(model_.graph());
    graph(model_.graph(), "graph", values, nullptr, 0);
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

 private:
  void graph(const schema::GraphProto& graph, const std::string& site, Values& values, const Attributes* call,
             std::size_t level) {
    for (const int i : orders_.of(graph).nodes) node(graph.node(i), site_of_node(site, i), values, call, level);
  }

  /// Pays for the visit of a node. Its own lists and names bound the work that depends on the node alone.
  [[nodiscard]] bool pay_for(const schema::NodeProto& node, std::string_view site) {
    const auto lists = static_cast<std::uint64_t>(node.input_size()) + static_cast<std::uint64_t>(node.output_size()) +
                       static_cast<std::uint64_t>(node.attribute_size());
    const std::size_t names = node.op_type().size() + node.domain().size() + node.overload().size() + site.size();
    return budget_.spend(lists + Budget::of_name(names));
  }

  /// Whether a node adds nothing, so that it need not be reported when the budget does not reach it.
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
      Values inner(budget_, &values);
      inner.add(subgraph);
      ++subgraphs_;  // counted apart: how often a branch or loop body runs is unknown
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
    Values inner(budget_, &values);
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
    Values body(budget_, nullptr, bindings_);
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
    Estimate estimate = counter->second(Product(node, attributes, values));
    if (budget_.is_spent()) estimate = too_large;  // the counter may have missed a shape
    if (const auto* why = std::get_if<std::string_view>(&estimate)) {
      add_unknown(node, site, *why);
      return;
    }
    const std::uint64_t multiply_adds = std::get<std::uint64_t>(estimate);
    std::uint64_t& sum = subgraphs_ == 0 ? total_ : in_subgraphs_;
    const auto more = base::checked_add(sum, multiply_adds);
    if (!more) {
      add_unknown(node, site, "the sum is beyond 64 bits");
      return;
    }
    sum = *more;
    if (subgraphs_ != 0) return;
    const std::string domain(onnx::canonical_domain(node.domain()));
    OpCost& cost = by_op_[{domain, node.op_type()}];
    cost.domain = domain;
    cost.op = node.op_type();
    ++cost.nodes;
    cost.multiply_adds += multiply_adds;
  }

  void add_unknown(const schema::NodeProto& node, const std::string& site, std::string_view reason) {
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
  const Bindings* bindings_;
  Orders orders_;  // kept over calls: a subgraph is ordered once, even if its function is expanded often
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, const schema::FunctionProto*> functions_;
  std::map<Op, OpCost> by_op_;
  std::map<std::tuple<std::string, std::string, std::string>, UnknownCost> unknown_;
  std::uint64_t total_ = 0;
  std::uint64_t in_subgraphs_ = 0;
  std::size_t subgraphs_ = 0;  // around the current node
};

}  // namespace

CostEstimate estimate_cost(const schema::ModelProto& model, const Bindings& bindings) {
  Budget budget = Budget::for_model(model.ByteSizeLong());
  return Costs(model, budget, bindings.empty() ? nullptr : &bindings).run();
}

CostEstimate estimate_cost(const schema::ModelProto& model, Budget& budget) {
  return Costs(model, budget, nullptr).run();
}

}  // namespace onnxar
