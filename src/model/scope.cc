// Finds the nodes of a list that given names need.
#include "model/scope.h"

#include "base/kept.h"
#include "base/text.h"
#include "model/messages.h"

namespace onnxar {

using base::concat;

void refuse_graph(Code code, const std::string& site, const std::string& what) {
  throw Error(code, what, {site, std::nullopt});
}

Scope::Scope(base::Kept<Nodes> nodes, Names given, std::string site, Enter enter)
    : nodes_(nodes),
      given_(std::move(given)),
      site_(std::move(site)),
      enter_(std::move(enter)),
      states_(static_cast<std::size_t>(nodes_.size()), State::unseen),
      uses_(states_.size()) {
  for (int i = 0; i < nodes_.size(); ++i) {
    for (const std::string& output : nodes_[i].output()) add_producer(output, i);
  }
}

void Scope::add_producer(const std::string& output, int node) {
  if (output.empty()) return;  // an optional output that is left out
  if (given_.contains(output)) {
    refuse_graph(Code::onnx_graph_duplicate, site_of(node),
                 concat("its output ", base::quoted(output), " has the name of an input or initializer"));
  }
  const auto [other, first] = producers_.emplace(output, node);
  if (first) return;
  refuse_graph(Code::onnx_graph_duplicate, site_of(node),
               concat("its output ", base::quoted(output), " is also an output of ", site_of(other->second)));
}

// A depth-first search with an explicit stack: a long chain of nodes would overflow the call stack.
void Scope::need(const std::string& name, const std::string& user) {
  follow(name, user);
  while (!path_.empty()) {
    Step& step = path_.back();
    const auto at = static_cast<std::size_t>(step.node);
    if (step.followed == uses_[at].size()) {
      states_[at] = State::needed;
      path_.pop_back();
      continue;
    }
    const auto& [used, by] = uses_[at][step.followed++];
    follow(used, by, step.node);
  }
}

/// `user` is empty if the user is the node `user_node` itself.
void Scope::follow(const std::string& name, const std::string& user, int user_node) {
  const auto producer = producers_.find(name);
  if (producer == producers_.end()) return add_wanted(name, user, user_node);
  const int node = producer->second;
  State& state = states_[static_cast<std::size_t>(node)];
  // An open node is on the path, so it depends on the current node.
  if (state == State::open) refuse_graph(Code::onnx_graph_cycle, site_of(node), cycle_text(node));
  if (state == State::needed) return;
  // Uses are gathered when a node turns out to be needed: subgraphs of other nodes need not be pruned, nor be valid.
  state = State::open;
  find_uses(node);
  path_.push_back({node});
}

void Scope::add_wanted(const std::string& name, const std::string& user, int user_node) {
  if (given_.contains(name)) {
    used_.insert(name);
  } else if (!wanted_.contains(name)) {
    wanted_.emplace(name, user.empty() ? site_of(user_node) : user);
  }
}

void Scope::find_uses(int node) {
  std::vector<Use>& uses = uses_[static_cast<std::size_t>(node)];
  for (const std::string& input : nodes_[node].input()) {
    if (!input.empty()) uses.emplace_back(input, std::string());  // optional inputs may be left out
  }
  for (const auto& [name, user] : enter_(nodes_[node], site_of(node))) uses.emplace_back(name, user);
}

/// Describes the cycle: some steps back from the last node on the path to `node`.
std::string Scope::cycle_text(int node) const {
  constexpr std::size_t most = 10;
  std::string text = "the node depends on its own output, through ";
  std::size_t listed = 0;
  for (auto step = path_.rbegin(); step != path_.rend() && step->node != node && listed < most; ++step, ++listed) {
    text += concat(listed == 0 ? "" : ", ", site_of(step->node));
  }
  return listed == 0 ? "the node uses its own output" : text;
}

bool Scope::needs(const std::string& name) const {
  const auto producer = producers_.find(name);
  if (producer == producers_.end()) return used_.contains(name);
  return states_[static_cast<std::size_t>(producer->second)] == State::needed;
}

std::uint64_t Scope::prune() {
  int i = 0;
  return keep_only(nodes_, [&](const auto&) { return states_[static_cast<std::size_t>(i++)] == State::needed; });
}

Names Scope::values() const {
  Names names = given_;
  for (const auto& node : nodes_) names.insert(node.output().begin(), node.output().end());
  return names;
}

}  // namespace onnxar
