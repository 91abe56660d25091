#include "freeze/opsets.h"

#include <algorithm>
#include <set>
#include <string>

#include "graph/walk.h"
#include "onnx/sites.h"
#include "proto/messages.h"

namespace onnxar {
namespace {

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

}  // namespace

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

}  // namespace onnxar
