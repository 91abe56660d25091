// One walk over the graphs, nodes and tensors of a ModelProto, with their sites.
//
// Two other walks stay apart. onnx::walk_tensors reads the serialised model, without protobuf. onnxar::resolve_all is a
// public template for the classes of any protobuf, which neither needs sites nor may include what is private.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "onnx/sites.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

using Nodes = google::protobuf::RepeatedPtrField<schema::NodeProto>;

/// Where the walk is. Valid during the visit.
class Site {
 public:
  Site(const std::string& root, std::span<const onnx::Level> levels, std::size_t subgraphs)
      : root_(root), levels_(levels), subgraphs_(subgraphs) {}

  /// `graph.node[3].attr.value`. It is made on demand, because most visits do without it.
  [[nodiscard]] std::string text() const { return onnx::path_of(levels_, root_); }
  /// The number of subgraphs around it.
  [[nodiscard]] std::size_t subgraphs() const noexcept { return subgraphs_; }
  /// Whether it is in the default value of a function's attribute.
  [[nodiscard]] bool in_default() const;

 private:
  const std::string& root_;
  std::span<const onnx::Level> levels_;
  std::size_t subgraphs_;
};

/// What to call. Empty members are not called.
struct Visitor {
  std::function<void(const schema::NodeProto&, const Site&)> node = {};
  /// A graph in an attribute. The walk enters it if the answer is true.
  std::function<bool(const schema::GraphProto&, const Site&)> subgraph = {};
  std::function<void(const schema::TensorProto&, const Site&)> tensor = {};
};

/// Visits in the order of the messages; a node comes before what its attributes hold. `site` is the site of the message
/// itself. The depth of recursion is bounded by protobuf's parser.
void walk(const schema::ModelProto& model, const Visitor& visitor);
void walk(const schema::GraphProto& graph, const std::string& site, const Visitor& visitor);
/// The body, and the default values of the attributes.
void walk(const schema::FunctionProto& function, const std::string& site, const Visitor& visitor);

/// Visits the nodes of graph, training info and functions with their subgraphs. Graphs that are default values of a
/// function's attributes are left out: no call runs them where they are.
void for_each_node(const schema::ModelProto& model,
                   const std::function<void(const schema::NodeProto&, const Site&)>& visit);
void for_each_node(const schema::FunctionProto& function, const std::string& site,
                   const std::function<void(const schema::NodeProto&, const Site&)>& visit);

/// Visits the graphs in a node's attributes, not the graphs in those.
void for_each_subgraph(const schema::NodeProto& node, const std::string& site,
                       const std::function<void(const schema::GraphProto&, const std::string& site)>& visit);
/// Visits the graphs that are default values of a function's attributes.
void for_each_default_graph(const schema::FunctionProto& function, const std::string& site,
                            const std::function<void(const schema::GraphProto&, const std::string& site)>& visit);

/// `site` and a further step: see onnx/site_text.h.
std::string site_in(std::string site, std::string_view step);
/// The site of a node of the graph or function at `owner`.
std::string site_of_node(const std::string& owner, int index);

/// The walk reads only, and hands out const messages. What is in a message that the caller may change may be changed.
template <typename Message>
Message& changeable(const Message& message) {
  return const_cast<Message&>(message);
}

}  // namespace onnxar
