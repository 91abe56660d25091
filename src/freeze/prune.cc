#include "freeze/prune.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/keyed_hash.h"
#include "base/text.h"
#include "graph/node_list.h"
#include "graph/opsets.h"
#include "onnx/domains.h"
#include "onnxar/tensor.h"
#include "proto/messages.h"

namespace onnxar {
namespace {

using base::concat;
using Nodes = google::protobuf::RepeatedPtrField<schema::NodeProto>;
using Names = base::KeyedSet<std::string>;

[[noreturn]] void refuse(Code code, const std::string& site, const std::string& what) {
  throw Error(code, what, {site, std::nullopt});
}

/// Takes out the elements for which `keep` does not hold; how many went.
template <typename T, typename Keep>
std::uint64_t keep_only(google::protobuf::RepeatedPtrField<T>& list, const Keep& keep) {
  int kept = 0;
  for (int i = 0; i < list.size(); ++i) {
    if (!keep(list[i])) continue;
    if (i != kept) list.SwapElements(i, kept);
    ++kept;
  }
  const int gone = list.size() - kept;
  list.DeleteSubrange(kept, gone);
  return static_cast<std::uint64_t>(gone);
}

/// Domain, operator and overload: what a node calls, or what a function is called.
using FunctionKey = std::array<std::string, 3>;

FunctionKey key_of(const std::string& domain, const std::string& name, const std::string& overload) {
  return {std::string(onnx::canonical_domain(domain)), name, overload};
}

/// A name that a list of nodes uses and does not give, and a node that uses it.
using Wanted = std::map<std::string, std::string>;

/// One list of nodes: which of them are needed for some names, what those use from around them, whom they call.
class Scope {
 public:
  Scope(Nodes& nodes, Names given, std::string site, FreezeReport& report, std::set<FunctionKey>& calls)
      : nodes_(nodes),
        given_(std::move(given)),
        site_(std::move(site)),
        report_(report),
        calls_(calls),
        states_(static_cast<std::size_t>(nodes.size()), State::unseen),
        uses_(states_.size()) {
    for (int i = 0; i < nodes_.size(); ++i) {
      for (const std::string& output : nodes_[i].output()) add_producer(output, i);
    }
  }

  /// Makes what gives `name` needed; `user` is the site that wants it. Errors: onnx.graph.cycle.
  void need(const std::string& name, const std::string& user) {
    std::vector<std::pair<int, std::size_t>> path;  // nodes, and how many of their uses were followed
    follow(name, user, path);
    while (!path.empty()) {
      const auto [node, next] = path.back();
      const auto at = static_cast<std::size_t>(node);
      if (next == uses_[at].size()) {
        states_[at] = State::needed;
        path.pop_back();
        continue;
      }
      ++path.back().second;
      const auto& [used, by] = uses_[at][next];
      follow(used, by, path, node);
    }
  }

  [[nodiscard]] bool needs(const std::string& name) const {
    const auto producer = producers_.find(name);
    if (producer == producers_.end()) return used_.contains(name);
    return states_[static_cast<std::size_t>(producer->second)] == State::needed;
  }

  /// Takes the other nodes out. What is needed stays so; no more can be asked for.
  void prune() {
    int i = 0;
    report_.nodes +=
        keep_only(nodes_, [&](const auto&) { return states_[static_cast<std::size_t>(i++)] == State::needed; });
  }

  /// What is used of that which the scope is given.
  [[nodiscard]] const Names& used() const { return used_; }
  [[nodiscard]] const Wanted& wanted() const { return wanted_; }
  /// Whether a value of this name is still there; after `prune`.
  [[nodiscard]] Names values() const {
    Names names = given_;
    for (const auto& node : nodes_) names.insert(node.output().begin(), node.output().end());
    return names;
  }

 private:
  enum class State : std::uint8_t { unseen, open, needed };
  /// A name that a node uses, and the site that does: empty for the node itself, whose inputs may be a million.
  using Use = std::pair<std::string, std::string>;
  using Uses = std::vector<Use>;

  [[nodiscard]] std::string site_of(int node) const { return site_of_node(site_, node); }

  void add_producer(const std::string& output, int node) {
    if (output.empty()) return;
    if (given_.contains(output)) {
      refuse(Code::onnx_graph_duplicate, site_of(node),
             concat("it gives ", base::quoted(output), ", the name of an input or initializer"));
    }
    const auto [other, first] = producers_.emplace(output, node);
    if (first) return;
    refuse(Code::onnx_graph_duplicate, site_of(node),
           concat("it gives ", base::quoted(output), ", as ", site_of(other->second), " does"));
  }

  /// `user` is empty where it is the node `user_node` itself.
  void follow(const std::string& name, const std::string& user, std::vector<std::pair<int, std::size_t>>& path,
              int user_node = -1) {
    const auto producer = producers_.find(name);
    if (producer == producers_.end()) {
      if (given_.contains(name)) {
        used_.insert(name);
      } else if (!wanted_.contains(name)) {
        wanted_.emplace(name, user.empty() ? site_of(user_node) : user);
      }
      return;
    }
    State& state = states_[static_cast<std::size_t>(producer->second)];
    if (state == State::open) {
      refuse(Code::onnx_graph_cycle, site_of(producer->second), cycle_text(producer->second, path));
    }
    if (state == State::needed) return;
    state = State::open;
    find_uses(producer->second);
    path.emplace_back(producer->second, 0);
  }

  [[nodiscard]] std::string cycle_text(int node, const std::vector<std::pair<int, std::size_t>>& path) const {
    constexpr std::size_t most = 10;
    std::string text = "the node waits for its own output, by way of ";
    std::size_t listed = 0;
    for (auto step = path.rbegin(); step != path.rend() && step->first != node && listed < most; ++step, ++listed) {
      text += concat(listed == 0 ? "" : ", ", site_of(step->first));
    }
    return listed == 0 ? "the node uses its own output" : text;
  }

  void find_uses(int index);

  Nodes& nodes_;
  Names given_;
  std::string site_;
  FreezeReport& report_;
  std::set<FunctionKey>& calls_;
  base::KeyedMap<std::string, int> producers_;
  std::vector<State> states_;
  std::vector<Uses> uses_;
  Names used_;
  Wanted wanted_;
};

Names names_given(const schema::GraphProto& graph, const std::string& site) {
  Names tensors;
  const auto add = [&](const std::string& name) {
    if (!name.empty() && !tensors.insert(name).second) {
      refuse(Code::onnx_graph_duplicate, site, concat("two initializers have the name ", base::quoted(name)));
    }
  };
  for (const auto& tensor : graph.initializer()) add(tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) add(sparse.values().name());
  for (const auto& input : graph.input()) tensors.insert(input.name());
  return tensors;
}

/// Tensors that say how a value is quantized are needed as the value is.
void need_annotations(Scope& scope, const schema::GraphProto& graph, const std::string& site) {
  for (const auto& annotation : graph.quantization_annotation()) {
    if (!scope.needs(annotation.tensor_name())) continue;
    for (const auto& parameter : annotation.quant_parameter_tensor_names()) scope.need(parameter.value(), site);
  }
}

/// Takes out of a graph what its outputs do not need; what it uses of the graphs around it.
Wanted prune_graph(schema::GraphProto& graph, const std::string& site, bool is_main, FreezeReport& report,
                   std::set<FunctionKey>& calls) {
  Scope scope(*graph.mutable_node(), names_given(graph, site), site, report, calls);
  for (int i = 0; i < graph.output_size(); ++i) {
    const std::string path = site_in(site, concat(".output[", i, "]"));
    if (graph.output(i).name().empty()) {
      refuse(Code::onnx_graph_dangling, path, "the output has no name, so that nothing can give it");
    }
    scope.need(graph.output(i).name(), path);
  }
  need_annotations(scope, graph, site);
  scope.prune();
  const auto is_used = [&](const std::string& name) { return scope.used().contains(name); };
  Names gone;
  report.initializers += keep_only(*graph.mutable_initializer(), [&](const schema::TensorProto& tensor) {
    if (!is_used(tensor.name())) return gone.insert(tensor.name()), false;
    if (!is_open(tensor)) return true;
    throw Error(Code::onnx_tensor_no_data,
                concat("the model has no data for the initializer ", base::quoted(tensor.name()),
                       ", which is needed; weights from another file can fill it"),
                {site, std::nullopt});
  });
  report.initializers += keep_only(*graph.mutable_sparse_initializer(), [&](const schema::SparseTensorProto& sparse) {
    return is_used(sparse.values().name()) || (gone.insert(sparse.values().name()), false);
  });
  if (is_main) {  // those of a body are known by their position
    report.inputs += keep_only(*graph.mutable_input(), [&](const auto& input) { return !gone.contains(input.name()); });
  }
  Names values = scope.values();
  for (const std::string& name : gone) values.erase(name);
  keep_only(*graph.mutable_value_info(), [&](const auto& value) { return values.contains(value.name()); });
  keep_only(*graph.mutable_quantization_annotation(),
            [&](const auto& annotation) { return values.contains(annotation.tensor_name()); });
  return scope.wanted();
}

void Scope::find_uses(int index) {
  schema::NodeProto& node = nodes_[index];
  const std::string site = site_of(index);
  calls_.insert(key_of(node.domain(), node.op_type(), node.overload()));
  Uses& uses = uses_[static_cast<std::size_t>(index)];
  for (const std::string& input : node.input()) {
    if (!input.empty()) uses.emplace_back(input, std::string());  // optional ones may be left out
  }
  for_each_subgraph(node, site, [&](const schema::GraphProto& graph, const std::string& path) {
    auto& body = const_cast<schema::GraphProto&>(graph);  // of a node that may be changed
    for (auto& [name, user] : prune_graph(body, path, false, report_, calls_)) uses.emplace_back(name, user);
  });
}

[[noreturn]] void refuse_dangling(const Wanted& wanted) {
  const auto& [name, site] = *wanted.begin();
  const std::string others = wanted.size() == 1 ? "" : concat("; ", wanted.size() - 1, " more names are like that");
  refuse(Code::onnx_graph_dangling, site,
         concat("nothing gives ", base::quoted(name), ": no input, no initializer, no node", others));
}

/// Functions that the graph calls, and those that they call.
class Functions {
 public:
  Functions(schema::ModelProto& model, FreezeReport& report) : model_(model), report_(report) {
    for (int i = 0; i < model.functions_size(); ++i) {
      const auto& function = model.functions(i);
      if (!numbers_.emplace(key_of(function.domain(), function.name(), function.overload()), i).second) {
        refuse(Code::onnx_graph_duplicate, site_of(i),
               concat("the function ", base::quoted(function.name()), " is defined twice"));
      }
    }
    called_.resize(numbers_.size());
    callees_.resize(numbers_.size());
  }

  void prune(const std::set<FunctionKey>& calls) {
    std::vector<int> waiting = numbers_of(calls);
    for (std::size_t next = 0; next < waiting.size(); ++next) {
      const auto at = static_cast<std::size_t>(waiting[next]);
      if (called_[at]) continue;
      called_[at] = true;
      callees_[at] = prune_body(waiting[next]);
      waiting.insert(waiting.end(), callees_[at].begin(), callees_[at].end());
    }
    refuse_recursion();
    int i = 0;
    report_.functions += keep_only(*model_.mutable_functions(), [&](const auto&) {
      return static_cast<bool>(called_[static_cast<std::size_t>(i++)]);
    });
  }

 private:
  static std::string site_of(int function) { return concat("functions[", function, "]"); }

  std::vector<int> numbers_of(const std::set<FunctionKey>& calls) const {
    std::vector<int> numbers;
    for (const FunctionKey& call : calls) {
      if (const auto found = numbers_.find(call); found != numbers_.end()) numbers.push_back(found->second);
    }
    return numbers;
  }

  std::vector<int> prune_body(int index) {
    schema::FunctionProto& function = *model_.mutable_functions(index);
    std::set<FunctionKey> calls;
    Scope scope(*function.mutable_node(), Names(function.input().begin(), function.input().end()), site_of(index),
                report_, calls);
    for (const std::string& output : function.output()) scope.need(output, site_of(index));
    need_defaults(scope, function, site_of(index), calls);
    scope.prune();
    if (!scope.wanted().empty()) refuse_dangling(scope.wanted());
    const Names values = scope.values();
    keep_only(*function.mutable_value_info(), [&](const auto& value) { return values.contains(value.name()); });
    return numbers_of(calls);
  }

  /// What graphs use that attributes are by default.
  void need_defaults(Scope& scope, schema::FunctionProto& function, const std::string& site,
                     std::set<FunctionKey>& calls) {
    for (int i = 0; i < function.attribute_proto_size(); ++i) {
      schema::AttributeProto& attribute = *function.mutable_attribute_proto(i);
      const std::string path = concat(site, ".attribute_proto[", i, "]");
      const auto need = [&](schema::GraphProto& graph) {
        for (const auto& [name, user] : prune_graph(graph, path, false, report_, calls)) scope.need(name, user);
      };
      if (attribute.has_g()) need(*attribute.mutable_g());
      for (schema::GraphProto& graph : *attribute.mutable_graphs()) need(graph);
    }
  }

  /// Takes functions away that nobody calls, again and again; what is left call each other.
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
    refuse(Code::onnx_graph_cycle, site_of(index),
           concat("the function ", base::quoted(model_.functions(index).name()),
                  " calls itself, or is called by functions that do; ONNX has no recursion"));
  }

  schema::ModelProto& model_;
  FreezeReport& report_;
  std::map<FunctionKey, int> numbers_;
  std::vector<bool> called_;
  std::vector<std::vector<int>> callees_;
};

}  // namespace

bool is_open(const schema::TensorProto& tensor) {
  if (is_linked(tensor)) return false;
  const auto elements =
      payload_size(DataType::uint8, {tensor.dims().data(), static_cast<std::size_t>(tensor.dims_size())});
  const bool has_data = !tensor.raw_data().empty() || tensor.float_data_size() != 0 || tensor.int32_data_size() != 0 ||
                        tensor.int64_data_size() != 0 || tensor.double_data_size() != 0 ||
                        tensor.uint64_data_size() != 0 || tensor.string_data_size() != 0;
  return !has_data && elements != 0U;
}

void keep_what_is_reached(schema::ModelProto& model, FreezeReport& report) {
  report.training_infos += static_cast<std::uint64_t>(model.training_info_size());
  model.clear_training_info();
  std::set<FunctionKey> calls;
  Functions functions(model, report);
  const Wanted wanted = prune_graph(*model.mutable_graph(), "graph", true, report, calls);
  if (!wanted.empty()) refuse_dangling(wanted);
  functions.prune(calls);
  report.opset_imports += drop_unused_opsets(model);
}

}  // namespace onnxar
