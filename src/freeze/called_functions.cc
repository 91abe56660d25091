#include "freeze/called_functions.h"

#include <algorithm>
#include <cstddef>

#include "base/text.h"
#include "proto/messages.h"

namespace onnxar {
namespace {

using base::concat;

std::string site_of_function(int index) { return concat("functions[", index, "]"); }

}  // namespace

void refuse_dangling(const Wanted& wanted) {
  const auto& [name, site] = *wanted.begin();
  const std::size_t more = wanted.size() - 1;
  const std::string others =
      more == 0 ? "" : concat("; ", more, more == 1 ? " more name is" : " more names are", " undefined");
  refuse_graph(Code::onnx_graph_dangling, site,
               concat("no input, initializer or node defines ", base::quoted(name), others));
}

CalledFunctions::CalledFunctions(schema::ModelProto& model, FreezeReport& report) : model_(model), report_(report) {
  for (int i = 0; i < model.functions_size(); ++i) {
    const auto& function = model.functions(i);
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

void CalledFunctions::prune(const std::set<FunctionKey>& calls) {
  std::vector<int> waiting = numbers_of(calls);
  for (std::size_t next = 0; next < waiting.size(); ++next) {
    const auto at = static_cast<std::size_t>(waiting[next]);
    // Each body is pruned once, and only if it is called: other functions need not be valid, as they are removed.
    if (called_[at]) continue;
    called_[at] = true;
    callees_[at] = prune_body(waiting[next]);
    for (const int callee : callees_[at]) waiting.push_back(callee);  // GCC 14 warns falsely of `insert`
  }
  refuse_recursion();
  int i = 0;
  report_.functions += keep_only(*model_.mutable_functions(), [&](const auto&) {
    return static_cast<bool>(called_[static_cast<std::size_t>(i++)]);
  });
}

std::vector<int> CalledFunctions::numbers_of(const std::set<FunctionKey>& calls) const {
  std::vector<int> numbers;
  for (const FunctionKey& call : calls) {
    // Other calls are calls of operators.
    if (const auto found = numbers_.find(call); found != numbers_.end()) numbers.push_back(found->second);
  }
  return numbers;
}

/// Prunes the body, and returns the functions that it calls.
std::vector<int> CalledFunctions::prune_body(int index) {
  schema::FunctionProto& function = *model_.mutable_functions(index);
  const std::string site = site_of_function(index);
  GraphPruner pruner(report_);
  Scope scope(*function.mutable_node(), Names(function.input().begin(), function.input().end()), site,
              [&pruner](schema::NodeProto& node, const std::string& at) { return pruner.enter(node, at); });
  for (const std::string& output : function.output()) scope.need(output, site);
  // A graph that is an attribute's default value runs where the body refers to it, and may use values of the body.
  for_each_default_graph(function, site, [&](const schema::GraphProto& graph, const std::string& path) {
    for (const auto& [name, user] : pruner.prune(changeable(graph), path, Inputs::kept)) scope.need(name, user);
  });
  report_.nodes += scope.prune();
  if (!scope.wanted().empty()) refuse_dangling(scope.wanted());
  const Names values = scope.values();
  keep_only(*function.mutable_value_info(), [&](const auto& value) { return values.contains(value.name()); });
  return numbers_of(pruner.calls());
}

/// Kahn's algorithm: repeatedly discounts functions without a caller. Functions that remain call each other.
void CalledFunctions::refuse_recursion() const {
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

}  // namespace onnxar
