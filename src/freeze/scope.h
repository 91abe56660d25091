// One list of nodes: which of them some names need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/keyed_hash.h"
#include "graph/walk.h"
#include "onnxar/error.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

using Names = base::KeyedSet<std::string>;

/// Names that are used in a place that does not define them, each with the site of one user.
using Wanted = std::map<std::string, std::string>;

[[noreturn]] void refuse_graph(Code code, const std::string& site, const std::string& what);

/// The nodes of a graph or of a function's body. Ask for names with `need`, then call `prune`.
class Scope {
 public:
  /// Called once for each node that is needed, with its site. The answer is what the node uses beyond its inputs.
  using Enter = std::function<Wanted(schema::NodeProto&, const std::string& site)>;

  /// `given` are the names that the graph or function defines without a node: inputs, initializers. `nodes` must
  /// outlive this. Errors: onnx.graph.duplicate.
  Scope(Nodes& nodes, Names given, std::string site, Enter enter);

  /// Marks as needed what defines `name`, and all that this uses. `user` is the site that asks. Names that nothing here
  /// defines are added to `wanted`. Errors: onnx.graph.cycle; those of `enter`.
  void need(const std::string& name, const std::string& user);

  [[nodiscard]] bool needs(const std::string& name) const;

  /// Removes the other nodes and returns how many they were. `need` must not be called after it.
  std::uint64_t prune();

  /// The given names that are used.
  [[nodiscard]] const Names& used() const noexcept { return used_; }
  [[nodiscard]] const Wanted& wanted() const noexcept { return wanted_; }
  /// The names of all values that are left. Call it after `prune`.
  [[nodiscard]] Names values() const;

 private:
  enum class State : std::uint8_t { unseen, open, needed };
  /// A name that a node uses, and the site of the user: empty for the node itself, which may have a million inputs.
  using Use = std::pair<std::string, std::string>;
  /// A node on the way from a needed name, and how many of its uses were followed.
  struct Step {
    int node = 0;
    std::size_t followed = 0;
  };

  [[nodiscard]] std::string site_of(int node) const { return site_of_node(site_, node); }
  void add_producer(const std::string& output, int node);
  void follow(const std::string& name, const std::string& user, int user_node = -1);
  void add_wanted(const std::string& name, const std::string& user, int user_node);
  void find_uses(int node);
  [[nodiscard]] std::string cycle_text(int node) const;

  Nodes& nodes_;
  Names given_;
  std::string site_;
  Enter enter_;
  base::KeyedMap<std::string, int> producers_;
  std::vector<State> states_;           // by node
  std::vector<std::vector<Use>> uses_;  // by node
  std::vector<Step> path_;              // the way to what is looked at, empty between calls
  Names used_;
  Wanted wanted_;
};

}  // namespace onnxar
