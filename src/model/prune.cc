// Reduces a model to what its outputs need.
#include "model/prune.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/kept.h"
#include "base/text.h"
#include "model/messages.h"
#include "model/scope.h"
#include "model/walk.h"
#include "onnx/operators.h"
#include "onnxar/resolve.h"
#include "onnxar/tensor.h"

namespace onnxar {
namespace {

using base::concat;

/// Domain, name and overload, because overloads of a name are different functions: identifies a function, or the
/// function that a node calls.
using FunctionKey = std::array<std::string, 3>;
/// States if inputs of a graph may be removed. Callers pass the inputs of a subgraph by position, so those are kept.
enum class Inputs : bool { kept, dropped_with_initializers };

/// Returns the names of initializers and inputs. Throws onnx.graph.duplicate. An input may have the name of an
/// initializer, which is then its default value.
Names names_given(const schema::GraphProto& graph, const std::string& site) {
  Names names;
  const auto add = [&](const std::string& name, std::string_view list, int index) {
    if (!name.empty() && !names.insert(name).second) {
      refuse_graph(Code::onnx_graph_duplicate, site_in(site, concat(list, "[", index, "]")),
                   concat("two initializers have the name ", base::quoted(name)));
    }
  };
  for (int i = 0; i < graph.initializer_size(); ++i) add(graph.initializer(i).name(), ".initializer", i);
  for (int i = 0; i < graph.sparse_initializer_size(); ++i) {
    add(graph.sparse_initializer(i).values().name(), ".sparse_initializer", i);
  }
  for (const auto& input : graph.input()) names.insert(input.name());
  return names;
}

void need_outputs(Scope& scope, const schema::GraphProto& graph, const std::string& site) {
  for (int i = 0; i < graph.output_size(); ++i) {
    const std::string path = site_in(site, concat(".output[", i, "]"));
    if (graph.output(i).name().empty()) {
      refuse_graph(Code::onnx_graph_dangling, path, "the output has no name, so no node can produce it");
    }
    scope.need(graph.output(i).name(), path);
  }
}

/// Marks the tensors that describe a needed value's quantization as needed.
void need_annotations(Scope& scope, const schema::GraphProto& graph, const std::string& site) {
  for (const auto& annotation : graph.quantization_annotation()) {
    if (!scope.needs(annotation.tensor_name())) continue;
    for (const auto& parameter : annotation.quant_parameter_tensor_names()) scope.need(parameter.value(), site);
  }
}

/// Removes facts about values that no longer exist.
void keep_facts(schema::GraphProto& graph, const Scope& scope, const Names& gone) {
  Names values = scope.values();
  for (const std::string& name : gone) values.erase(name);
  keep_only(*graph.mutable_value_info(), [&](const auto& value) { return values.contains(value.name()); });
  keep_only(*graph.mutable_quantization_annotation(),
            [&](const auto& annotation) { return values.contains(annotation.tensor_name()); });
}

FunctionKey key_of(const std::string& domain, const std::string& name, const std::string& overload) {
  return {std::string(onnx::canonical_domain(domain)), name, overload};
}

/// Prunes graphs, counts what it removes, and gathers the functions that the remaining nodes may call.
class GraphPruner {
 public:
  explicit GraphPruner(base::Kept<FreezeReport> report) : report_(report) {}

  /// Removes everything from a graph that its outputs do not need. Returns the names that it uses from outer graphs.
  /// Throws onnx.graph.* or onnx.tensor.no_data.
  Wanted prune(schema::GraphProto& graph, const std::string& site, Inputs inputs) {
    Scope scope(*graph.mutable_node(), names_given(graph, site), site,
                [this](schema::NodeProto& node, const std::string& at) { return enter(node, at); });
    need_outputs(scope, graph, site);
    need_annotations(scope, graph, site);
    report_.nodes += scope.prune();
    Names gone;
    keep_needed_tensors(graph, site, scope, gone);
    if (inputs == Inputs::dropped_with_initializers) {
      report_.inputs +=
          keep_only(*graph.mutable_input(), [&](const auto& input) { return !gone.contains(input.name()); });
    }
    keep_facts(graph, scope, gone);
    return scope.wanted();
  }

  /// Prunes the subgraphs of a node, and returns the names that they use from outer graphs. For Scope::Enter.
  Wanted enter(schema::NodeProto& node, const std::string& site) {
    calls_.insert(key_of(node.domain(), node.op_type(), node.overload()));
    Wanted used;
    for_each_subgraph(node, site, [&](const schema::GraphProto& graph, const std::string& path) {
      used.merge(prune(changeable(graph), path, Inputs::kept));
    });
    return used;
  }

  [[nodiscard]] const std::set<FunctionKey>& calls() const noexcept { return calls_; }

 private:
  void keep_needed_tensors(schema::GraphProto& graph, const std::string& site, const Scope& scope, Names& gone) {
    const auto is_used = [&](const std::string& name) { return scope.used().contains(name); };
    int index = -1;  // in the list before the removal
    report_.initializers += keep_only(*graph.mutable_initializer(), [&](const schema::TensorProto& tensor) {
      ++index;
      if (!is_used(tensor.name())) return gone.insert(tensor.name()), false;
      if (!is_open(tensor)) return true;
      refuse_graph(Code::onnx_tensor_no_data, site_in(site, concat(".initializer[", index, "]")),
                   concat("the model has no data for the initializer ", base::quoted(tensor.name()),
                          ", which is needed; weights from another file can fill it"));
    });
    report_.initializers +=
        keep_only(*graph.mutable_sparse_initializer(), [&](const schema::SparseTensorProto& sparse) {
          return is_used(sparse.values().name()) || (gone.insert(sparse.values().name()), false);
        });
  }

  FreezeReport& report_;
  std::set<FunctionKey> calls_;
};

using Domains = std::set<std::string>;
using Imports = google::protobuf::RepeatedPtrField<schema::OperatorSetIdProto>;

/// Returns the domains of all operators in a graph, or in a function: in its body and the defaults of its attributes.
template <typename Message>
Domains domains_of(const Message& message) {
  Domains domains;
  walk(message, {}, {.node = [&domains](const auto& node, const Site&) { domains.insert(node.domain()); }});
  return domains;
}

std::uint64_t keep_imports(Imports& imports, const Domains& used) {
  const auto is_used = [&used](const schema::OperatorSetIdProto& opset) {
    return onnx::is_default_domain(opset.domain()) || used.contains(opset.domain());
  };
  if (std::ranges::none_of(imports, is_used)) return 0;  // a model must import an opset
  return keep_only(imports, is_used);
}

/// Removes imports of domains that no node uses, from the model and its functions, and returns their number. The model
/// keeps imports of its functions' domains, and of domains that their bodies use. ONNX's default domain is kept
/// everywhere. Runtimes need both when they inline functions. If no import is used, all are kept, because a model must
/// import an opset.
std::uint64_t drop_unused_opsets(schema::ModelProto& model) {
  std::uint64_t gone = 0;
  Domains used = domains_of(model.graph());
  for (auto& function : *model.mutable_functions()) {
    // A function imports opsets itself, so only its own operators count for its list.
    Domains inside = domains_of(function);
    gone += keep_imports(*function.mutable_opset_import(), inside);
    used.insert(function.domain());  // the domain of calls of this function
    used.merge(inside);
  }
  return gone + keep_imports(*model.mutable_opset_import(), used);
}

std::string site_of_function(int index) { return concat("functions[", index, "]"); }

/// Throws onnx.graph.dangling for the first of these undefined names.
[[noreturn]] void refuse_dangling(const Wanted& wanted) {
  const auto& [name, site] = *wanted.begin();
  const std::size_t more = wanted.size() - 1;
  const std::string others =
      more == 0 ? "" : concat("; ", more, more == 1 ? " more name is" : " more names are", " undefined");
  refuse_graph(Code::onnx_graph_dangling, site,
               concat("no input, initializer or node defines ", base::quoted(name), others));
}

/// The functions that a model calls, directly or through other functions.
class CalledFunctions {
 public:
  /// Throws onnx.graph.duplicate.
  explicit CalledFunctions(base::Kept<schema::ModelProto> model) : model_(model) {
    for (int i = 0; i < model_.functions_size(); ++i) {
      const auto& function = model_.functions(i);
      if (!numbers_.emplace(key_of(function.domain(), function.name(), function.overload()), i).second) {
        refuse_graph(Code::onnx_graph_duplicate, site_of_function(i),
                     concat("the function ", base::quoted(function.name()), " is defined twice"));
      }
    }
    // Numbers are indices into the list of functions. They remain valid until the end of `prune`, which removes unused
    // functions in one pass.
    called_.resize(numbers_.size());
    callees_.resize(numbers_.size());
  }

  /// Removes the functions that neither `calls` nor called functions contain, and prunes the others. Counts what it
  /// removes. Throws onnx.graph.* or onnx.tensor.no_data.
  void prune(const std::set<FunctionKey>& calls, FreezeReport& report) {
    std::vector<int> waiting = numbers_of(calls);
    for (std::size_t next = 0; next < waiting.size(); ++next) {
      const auto at = static_cast<std::size_t>(waiting[next]);
      // Each body is pruned once, and only if it is called: other functions need not be valid, as they are removed.
      if (called_[at]) continue;
      called_[at] = true;
      callees_[at] = prune_body(waiting[next], report);
      for (const int callee : callees_[at]) waiting.push_back(callee);  // GCC 14 warns wrongly about `insert`
    }
    refuse_recursion();
    int i = 0;
    report.functions += keep_only(*model_.mutable_functions(), [&](const auto&) {
      return static_cast<bool>(called_[static_cast<std::size_t>(i++)]);
    });
  }

 private:
  [[nodiscard]] std::vector<int> numbers_of(const std::set<FunctionKey>& calls) const {
    std::vector<int> numbers;
    for (const FunctionKey& call : calls) {
      // Other calls are calls of operators.
      if (const auto found = numbers_.find(call); found != numbers_.end()) numbers.push_back(found->second);
    }
    return numbers;
  }

  /// Prunes the body, and returns the functions that it calls.
  std::vector<int> prune_body(int index, FreezeReport& report) {
    schema::FunctionProto& function = *model_.mutable_functions(index);
    const std::string site = site_of_function(index);
    GraphPruner pruner(report);
    Scope scope(*function.mutable_node(), Names(function.input().begin(), function.input().end()), site,
                [&pruner](schema::NodeProto& node, const std::string& at) { return pruner.enter(node, at); });
    for (const std::string& output : function.output()) scope.need(output, site);
    // A graph that is an attribute's default value runs where the body refers to it, and may use values of the body.
    for_each_default_graph(function, site, [&](const schema::GraphProto& graph, const std::string& path) {
      for (const auto& [name, user] : pruner.prune(changeable(graph), path, Inputs::kept)) scope.need(name, user);
    });
    report.nodes += scope.prune();
    if (!scope.wanted().empty()) refuse_dangling(scope.wanted());
    const Names values = scope.values();
    keep_only(*function.mutable_value_info(), [&](const auto& value) { return values.contains(value.name()); });
    return numbers_of(pruner.calls());
  }

  /// Kahn's algorithm: repeatedly discounts functions without a caller. Functions that remain call each other.
  void refuse_recursion() const {
    std::vector<int> callers(called_.size());
    for (const auto& callees : callees_) {
      for (const int callee : callees) ++callers[static_cast<std::size_t>(callee)];
    }
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < callers.size(); ++i) {
      if (callers[i] == 0) free.push_back(i);
    }
    for (std::size_t next = 0; next < free.size(); ++next) {
      for (const int callee : callees_[free[next]]) {
        if (--callers[static_cast<std::size_t>(callee)] == 0) free.push_back(static_cast<std::size_t>(callee));
      }
    }
    const auto left = std::ranges::find_if(callers, [](int count) { return count > 0; });
    if (left == callers.end()) return;
    const auto index = static_cast<int>(left - callers.begin());
    refuse_graph(Code::onnx_graph_cycle, site_of_function(index),
                 concat("the function ", base::quoted(model_.functions(index).name()),
                        " calls itself, or is called by functions that do; ONNX has no recursion"));
  }

  schema::ModelProto& model_;
  std::map<FunctionKey, int> numbers_;
  std::vector<bool> called_;               // by number
  std::vector<std::vector<int>> callees_;  // by number
};

}  // namespace

/// True if the tensor has elements. A tensor without elements needs no data. A product of dimensions that overflows
/// counts as elements.
bool is_open(const schema::TensorProto& tensor) {
  if (is_linked(tensor)) return false;
  const auto elements = payload_size(DataType::uint8, dims_of(tensor));
  return tensor.raw_data().empty() && !detail::has_typed_values(tensor) && elements != 0U;
}

void prune(schema::ModelProto& model, FreezeReport& report) {
  report.training_infos += static_cast<std::uint64_t>(model.training_info_size());
  // Training info may refer to initializers that inference does not need.
  model.clear_training_info();
  CalledFunctions functions(model);  // refuses duplicate functions, even if they are not called
  GraphPruner pruner(report);
  const Wanted wanted = pruner.prune(*model.mutable_graph(), "graph", Inputs::dropped_with_initializers);
  if (!wanted.empty()) refuse_dangling(wanted);
  functions.prune(pruner.calls(), report);
  // Last, because the remaining nodes determine which domains are used.
  report.opset_imports += drop_unused_opsets(model);
}

}  // namespace onnxar
