#include "graph/opsets.h"

#include <algorithm>
#include <set>
#include <string>

#include "graph/node_list.h"
#include "onnx/domains.h"

namespace onnxar {
namespace {

using Domains = std::set<std::string>;
using Imports = google::protobuf::RepeatedPtrField<schema::OperatorSetIdProto>;

Domains domains_of(const google::protobuf::RepeatedPtrField<schema::NodeProto>& nodes) {
  Domains domains;
  for_each_node(nodes, {}, [&domains](const auto& node, const auto&) { domains.insert(node.domain()); });
  return domains;
}

/// Of a body, and of the graphs that its attributes are by default.
Domains domains_of(const schema::FunctionProto& function) {
  Domains domains = domains_of(function.node());
  for (const auto& attribute : function.attribute_proto()) {
    domains.merge(domains_of(attribute.g().node()));
    for (const auto& graph : attribute.graphs()) domains.merge(domains_of(graph.node()));
  }
  return domains;
}

std::uint64_t keep_imports(Imports& imports, const Domains& used) {
  const auto unused = [&used](const schema::OperatorSetIdProto& opset) {
    const std::string& domain = opset.domain();
    return !onnx::is_default_domain(domain) && !used.contains(domain);
  };
  if (std::ranges::all_of(imports, unused)) return 0;
  const auto end = std::remove_if(imports.begin(), imports.end(), unused);
  const auto gone = static_cast<std::uint64_t>(imports.end() - end);
  imports.erase(end, imports.end());
  return gone;
}

}  // namespace

std::uint64_t drop_unused_opsets(schema::ModelProto& model) {
  std::uint64_t gone = 0;
  Domains used = domains_of(model.graph().node());
  for (auto& function : *model.mutable_functions()) {
    Domains inside = domains_of(function);
    gone += keep_imports(*function.mutable_opset_import(), inside);
    used.insert(function.domain());
    used.merge(inside);
  }
  return gone + keep_imports(*model.mutable_opset_import(), used);
}

}  // namespace onnxar
