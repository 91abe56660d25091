#include "freeze/prune_graph.h"

#include "base/text.h"
#include "onnx/sites.h"
#include "onnxar/tensor.h"
#include "proto/messages.h"

namespace onnxar {
namespace {

using base::concat;

/// Returns the names of initializers and inputs. Errors: onnx.graph.duplicate. An input may have the name of an
/// initializer, which is then its default value.
Names names_given(const schema::GraphProto& graph, const std::string& site) {
  Names names;
  const auto add = [&](const std::string& name, std::string_view list, int index) {
    if (!name.empty() && !names.insert(name).second) {
      refuse_graph(Code::onnx_graph_duplicate, site_in(site, concat(list, "[", index, "]")),
                   concat("two initializers have the name ", base::quoted(name)));
    }
  };
  for (int i = 0; i < graph.initializer_size(); ++i) add(graph.initializer(i).name(), ".initializer", i);
  for (int i = 0; i < graph.sparse_initializer_size(); ++i) {
    add(graph.sparse_initializer(i).values().name(), ".sparse_initializer", i);
  }
  for (const auto& input : graph.input()) names.insert(input.name());
  return names;
}

void need_outputs(Scope& scope, const schema::GraphProto& graph, const std::string& site) {
  for (int i = 0; i < graph.output_size(); ++i) {
    const std::string path = site_in(site, concat(".output[", i, "]"));
    if (graph.output(i).name().empty()) {
      refuse_graph(Code::onnx_graph_dangling, path, "the output has no name, so no node can produce it");
    }
    scope.need(graph.output(i).name(), path);
  }
}

/// Marks the tensors that describe a needed value's quantization as needed.
void need_annotations(Scope& scope, const schema::GraphProto& graph, const std::string& site) {
  for (const auto& annotation : graph.quantization_annotation()) {
    if (!scope.needs(annotation.tensor_name())) continue;
    for (const auto& parameter : annotation.quant_parameter_tensor_names()) scope.need(parameter.value(), site);
  }
}

/// Removes facts about values that no longer exist.
void keep_facts(schema::GraphProto& graph, const Scope& scope, const Names& gone) {
  Names values = scope.values();
  for (const std::string& name : gone) values.erase(name);
  keep_only(*graph.mutable_value_info(), [&](const auto& value) { return values.contains(value.name()); });
  keep_only(*graph.mutable_quantization_annotation(),
            [&](const auto& annotation) { return values.contains(annotation.tensor_name()); });
}

}  // namespace

/// Includes the overload: overloads of a name are different functions.
FunctionKey key_of(const std::string& domain, const std::string& name, const std::string& overload) {
  return {std::string(onnx::canonical_domain(domain)), name, overload};
}

/// A tensor without elements needs no data. A product of dimensions that overflows counts as elements.
bool is_open(const schema::TensorProto& tensor) {
  if (is_linked(tensor)) return false;
  const auto elements = payload_size(DataType::uint8, dims_of(tensor));
  const bool has_data = !tensor.raw_data().empty() || tensor.float_data_size() != 0 || tensor.int32_data_size() != 0 ||
                        tensor.int64_data_size() != 0 || tensor.double_data_size() != 0 ||
                        tensor.uint64_data_size() != 0 || tensor.string_data_size() != 0;
  return !has_data && elements != 0U;
}

Wanted GraphPruner::prune(schema::GraphProto& graph, const std::string& site, Inputs inputs) {
  Scope scope(*graph.mutable_node(), names_given(graph, site), site,
              [this](schema::NodeProto& node, const std::string& at) { return enter(node, at); });
  need_outputs(scope, graph, site);
  need_annotations(scope, graph, site);
  report_.nodes += scope.prune();
  Names gone;
  keep_needed_tensors(graph, site, scope, gone);
  if (inputs == Inputs::dropped_with_initializers) {
    report_.inputs +=
        keep_only(*graph.mutable_input(), [&](const auto& input) { return !gone.contains(input.name()); });
  }
  keep_facts(graph, scope, gone);
  return scope.wanted();
}

void GraphPruner::keep_needed_tensors(schema::GraphProto& graph, const std::string& site, const Scope& scope,
                                      Names& gone) {
  const auto is_used = [&](const std::string& name) { return scope.used().contains(name); };
  int index = -1;  // in the list before the removal
  report_.initializers += keep_only(*graph.mutable_initializer(), [&](const schema::TensorProto& tensor) {
    ++index;
    if (!is_used(tensor.name())) return gone.insert(tensor.name()), false;
    if (!is_open(tensor)) return true;
    refuse_graph(Code::onnx_tensor_no_data, site_in(site, concat(".initializer[", index, "]")),
                 concat("the model has no data for the initializer ", base::quoted(tensor.name()),
                        ", which is needed; weights from another file can fill it"));
  });
  report_.initializers += keep_only(*graph.mutable_sparse_initializer(), [&](const schema::SparseTensorProto& sparse) {
    return is_used(sparse.values().name()) || (gone.insert(sparse.values().name()), false);
  });
}

Wanted GraphPruner::enter(schema::NodeProto& node, const std::string& site) {
  calls_.insert(key_of(node.domain(), node.op_type(), node.overload()));
  Wanted used;
  for_each_subgraph(node, site, [&](const schema::GraphProto& graph, const std::string& path) {
    used.merge(prune(changeable(graph), path, Inputs::kept));
  });
  return used;
}

}  // namespace onnxar
