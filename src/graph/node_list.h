// Every node of a model, with where it stands.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/model/inspect.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// `graph.node[3]`, and how many subgraphs it is in.
struct NodeSite {
  std::string path;
  std::size_t level = 0;
};

/// The site of a step further: see onnx/site_text.h.
std::string site_in(std::string site, std::string_view step);
/// That of a node of the graph or function at `owner`.
std::string site_of_node(const std::string& owner, int index);

/// Visits the nodes of a list, each followed by those of its subgraphs. `path` is the site of the graph or function.
/// Recursion is bounded by what protobuf's parser lets in.
void for_each_node(const google::protobuf::RepeatedPtrField<schema::NodeProto>& nodes, const NodeSite& owner,
                   const std::function<void(const schema::NodeProto&, const NodeSite&)>& visit);
/// Those of graph, functions and training info.
void for_each_node(const schema::ModelProto& model,
                   const std::function<void(const schema::NodeProto&, const NodeSite&)>& visit);

/// The graphs in a node's attributes, with their sites.
void for_each_subgraph(const schema::NodeProto& node, const std::string& site,
                       const std::function<void(const schema::GraphProto&, const std::string& site)>& visit);

NodeSummary summary_of(const schema::NodeProto& node, const NodeSite& site);

}  // namespace onnxar
