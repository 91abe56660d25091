// Finds the nodes of a list that given names need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/kept.h"
#include "base/keyed_hash.h"
#include "model/walk.h"
#include "onnxar/error.h"
#include "onnxar/model/model.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

using Names = base::KeyedSet<std::string>;

/// Undefined names, each with the site of one user.
using Wanted = std::map<std::string, std::string>;

[[noreturn]] void refuse_graph(Code code, const std::string& site, const std::string& what);

/// The nodes of a graph or of a function's body. Call `need` for each name, then `prune`.
class Scope {
 public:
  /// Function that is called once for each needed node, with its site. Returns the names that the node uses in addition
  /// to its inputs.
  using Enter = std::function<Wanted(schema::NodeProto&, const std::string& site)>;

  /// `given` are the names that the graph or function defines without a node: inputs, initializers. Throws
  /// onnx.graph.duplicate.
  Scope(base::Kept<Nodes> nodes, Names given, std::string site, Enter enter);

  /// Marks the node that defines `name` as needed, and all nodes that it depends on. `user` is the site that uses the
  /// name. Names that are not defined here are added to `wanted`. Throws onnx.graph.cycle or what `enter` throws.
  void need(const std::string& name, const std::string& user);

  [[nodiscard]] bool needs(const std::string& name) const;

  /// Removes the other nodes, and returns their number. Do not call `need` afterwards.
  std::uint64_t prune();

  /// Returns the used names among the given ones.
  [[nodiscard]] const Names& used() const noexcept { return used_; }
  [[nodiscard]] const Wanted& wanted() const noexcept { return wanted_; }
  /// Returns the names of all remaining values. Call it after `prune`.
  [[nodiscard]] Names values() const;

 private:
  enum class State : std::uint8_t { unseen, open, needed };
  /// A name that a node uses, and the site of the user. The site is empty for the node's own inputs: a node may have a
  /// million of them, and a string for each would take too much memory.
  using Use = std::pair<std::string, std::string>;
  /// A node on the path from a needed name, and the number of its uses that were followed.
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
  std::vector<Step> path_;              // the nodes of the search in progress; empty between calls
  Names used_;
  Wanted wanted_;
};

}  // namespace onnxar
