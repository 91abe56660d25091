// Walks the graphs, nodes and tensors of a ModelProto, with their sites.
//
// Two other walks remain separate. onnx::walk_tensors reads the serialised model, without protobuf. onnxar::resolve_all
// is a public template for the classes of any protobuf, and must not include private headers.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/kept.h"
#include "onnx/sites.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

using Nodes = google::protobuf::RepeatedPtrField<schema::NodeProto>;

/// The position of the walk. Valid during the visit.
class Site {
 public:
  Site(base::Kept<std::string_view> root, base::Kept<std::span<const onnx::Level>> levels, std::size_t subgraphs)
      : root_(root), levels_(levels), subgraphs_(subgraphs) {}

  /// Returns `graph.node[3].attr.value`. The text is made on demand, because most visits do not need it.
  [[nodiscard]] std::string text() const { return onnx::path_of(levels_, root_); }
  /// Returns the number of enclosing subgraphs.
  [[nodiscard]] std::size_t subgraphs() const noexcept { return subgraphs_; }
  /// True if the position is in the default value of a function's attribute.
  [[nodiscard]] bool in_default() const;

 private:
  std::string_view root_;
  std::span<const onnx::Level> levels_;
  std::size_t subgraphs_;
};

/// The functions to call. Empty members are skipped.
struct Visitor {
  std::function<void(const schema::NodeProto&, const Site&)> node = {};
  /// Called for a graph in an attribute. The walk enters the graph if it returns true.
  std::function<bool(const schema::GraphProto&, const Site&)> subgraph = {};
  std::function<void(const schema::TensorProto&, const Site&)> tensor = {};
};

/// Visits messages in their order; a node comes before the contents of its attributes. `site` is the site of the
/// message itself. Protobuf's parser bounds the depth of recursion.
void walk(const schema::ModelProto& model, const Visitor& visitor);
void walk(const schema::GraphProto& graph, const std::string& site, const Visitor& visitor);
/// Walks the body, and the default values of the attributes.
void walk(const schema::FunctionProto& function, const std::string& site, const Visitor& visitor);

/// Visits the nodes of graph, training info and functions, with their subgraphs. Graphs that are default values of a
/// function's attributes are skipped: no call runs them in place.
void for_each_node(const schema::ModelProto& model,
                   const std::function<void(const schema::NodeProto&, const Site&)>& visit);
void for_each_node(const schema::FunctionProto& function, const std::string& site,
                   const std::function<void(const schema::NodeProto&, const Site&)>& visit);

/// Visits the graphs in a node's attributes, without the graphs inside them.
void for_each_subgraph(const schema::NodeProto& node, const std::string& site,
                       const std::function<void(const schema::GraphProto&, const std::string& site)>& visit);
/// Visits the graphs that are default values of a function's attributes.
void for_each_default_graph(const schema::FunctionProto& function, const std::string& site,
                            const std::function<void(const schema::GraphProto&, const std::string& site)>& visit);

/// Returns `site` with a further step: see onnx/site_text.h.
std::string site_in(std::string site, std::string_view step);
/// Returns the site of a node in the graph or function at `owner`.
std::string site_of_node(const std::string& owner, int index);

/// Removes const from a visited message. The walk hands out const messages; use this only if the caller may change the
/// message that is walked.
template <typename Message>
Message& changeable(const Message& message) {
  return const_cast<Message&>(message);
}

}  // namespace onnxar
