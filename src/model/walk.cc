// Walks the graphs, nodes and tensors of a ModelProto, with their sites.
#include "model/walk.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "archive/tensor_text.h"
#include "base/kept.h"
#include "base/sources.h"
#include "base/text.h"
#include "model/messages.h"
#include "onnx/site_text.h"
#include "onnx/sites.h"
#include "onnxar/model/model.h"

namespace onnxar {
namespace {

using onnx::Level;
template <typename T>
using Repeated = google::protobuf::RepeatedPtrField<T>;

/// Keeps the levels that were entered. They become text only if a visitor asks for its site, because most visits do
/// not, and a string for each node would dominate the cost of the walk.
class Walk {
 public:
  Walk(base::Kept<std::string_view> root, base::Kept<const Visitor> visitor) : root_(root), visitor_(visitor) {}

  void model(const schema::ModelProto& model) {
    if (model.has_graph()) one_graph(model.graph(), "graph");
    // In the order of field numbers, in which onnx::walk_tensors finds them in a file that protobuf wrote: both walks
    // then visit tensors in the same order.
    each(model.training_info(), onnx::Message::training, "training_info", [this](const auto& info) {
      if (info.has_initialization()) one_graph(info.initialization(), "initialization");
      if (info.has_algorithm()) one_graph(info.algorithm(), "algorithm");
    });
    each(model.functions(), onnx::Message::function, "functions", [this](const auto& each) { function(each); });
  }

  void function(const schema::FunctionProto& function) {
    nodes(function.node());
    attributes(function.attribute_proto(), "attribute_proto");
  }

  void graph(const schema::GraphProto& graph) {
    nodes(graph.node());
    if (!visitor_.tensor) return;  // a model may have many initializers, and they hold nothing else to visit
    tensors(graph.initializer(), "initializer");
    sparse_tensors(graph.sparse_initializer(), "sparse_initializer");
  }

  void attributes(const Repeated<schema::AttributeProto>& list, std::string_view label) {
    Level level{onnx::Message::attribute, label, true, 0, {}, {}};
    for (const auto& attribute : list) {
      if (holds_messages(attribute)) {
        level.name = onnx::name_for_path(attribute.name());
        at(level, [&] { content(attribute); });
      }
      ++level.index;
    }
  }

 private:
  /// Calls `work` one level further down.
  template <typename Work>
  void at(const Level& level, const Work& work) {
    levels_.push_back(level);
    work();
    levels_.pop_back();
  }
  template <typename T, typename Work>
  void each(const Repeated<T>& list, onnx::Message message, std::string_view label, const Work& work) {
    Level level{message, label, true, 0, {}, {}};
    for (const T& element : list) {
      at(level, [&] { work(element); });
      ++level.index;
    }
  }
  template <typename T, typename Work>
  void one(const T& element, onnx::Message message, std::string_view label, const Work& work) {
    at(Level{message, label, false, 0, {}, {}}, [&] { work(element); });
  }

  [[nodiscard]] Site site() const { return {root_, levels_, subgraphs_}; }

  /// Most attributes are numbers and text. Skipping them saves a level and a name.
  static bool holds_messages(const schema::AttributeProto& attribute) {
    return attribute.has_t() || attribute.has_g() || attribute.has_sparse_tensor() || attribute.tensors_size() != 0 ||
           attribute.graphs_size() != 0 || attribute.sparse_tensors_size() != 0;
  }

  void one_graph(const schema::GraphProto& graph, std::string_view label) {
    one(graph, onnx::Message::graph, label, [this](const auto& g) { this->graph(g); });
  }
  void nodes(const Repeated<schema::NodeProto>& list) {
    each(list, onnx::Message::node, "node", [this](const auto& node) {
      if (visitor_.node) visitor_.node(node, site());
      attributes(node.attribute(), "attribute");
    });
  }
  void content(const schema::AttributeProto& attribute) {
    const auto enter = [this](const auto& graph) { subgraph(graph); };
    const auto sparse = [this](const auto& tensor) { this->sparse(tensor); };
    if (attribute.has_t()) one(attribute.t(), onnx::Message::tensor, "t", [this](const auto& t) { tensor(t); });
    if (attribute.has_g()) one(attribute.g(), onnx::Message::graph, "g", enter);
    tensors(attribute.tensors(), "tensors");
    each(attribute.graphs(), onnx::Message::graph, "graphs", enter);
    if (attribute.has_sparse_tensor()) {
      one(attribute.sparse_tensor(), onnx::Message::sparse, "sparse_tensor", sparse);
    }
    sparse_tensors(attribute.sparse_tensors(), "sparse_tensors");
  }
  void subgraph(const schema::GraphProto& graph) {
    if (visitor_.subgraph && !visitor_.subgraph(graph, site())) return;
    ++subgraphs_;
    this->graph(graph);
    --subgraphs_;
  }
  void sparse_tensors(const Repeated<schema::SparseTensorProto>& list, std::string_view label) {
    each(list, onnx::Message::sparse, label, [this](const auto& tensor) { sparse(tensor); });
  }
  void sparse(const schema::SparseTensorProto& sparse) {
    const auto visit = [this](const auto& part) { tensor(part); };
    if (sparse.has_values()) one(sparse.values(), onnx::Message::tensor, "values", visit);
    if (sparse.has_indices()) one(sparse.indices(), onnx::Message::tensor, "indices", visit);
  }
  void tensors(const Repeated<schema::TensorProto>& list, std::string_view label) {
    each(list, onnx::Message::tensor, label, [this](const auto& each) { tensor(each); });
  }
  void tensor(const schema::TensorProto& tensor) {
    if (visitor_.tensor) visitor_.tensor(tensor, site());
  }

  std::string_view root_;
  const Visitor& visitor_;
  std::vector<Level> levels_;
  std::size_t subgraphs_ = 0;
};

Visitor nodes_that_run(const std::function<void(const schema::NodeProto&, const Site&)>& visit) {
  const auto is_run = [](const schema::GraphProto&, const Site& site) { return !site.in_default(); };
  return {.node = visit, .subgraph = is_run};
}

/// Visits graphs, and enters none of them.
Visitor only_subgraphs(const std::function<void(const schema::GraphProto&, const std::string&)>& visit) {
  return {.subgraph = [&visit](const schema::GraphProto& graph, const Site& site) {
    visit(graph, site.text());
    return false;
  }};
}

}  // namespace

bool Site::in_default() const {
  return std::ranges::any_of(levels_, [](const Level& level) { return level.label == "attribute_proto"; });
}

void walk(const schema::ModelProto& model, const Visitor& visitor) { Walk({}, visitor).model(model); }

void walk(const schema::GraphProto& graph, const std::string& site, const Visitor& visitor) {
  Walk(site, visitor).graph(graph);
}

void walk(const schema::FunctionProto& function, const std::string& site, const Visitor& visitor) {
  Walk(site, visitor).function(function);
}

void for_each_node(const schema::ModelProto& model,
                   const std::function<void(const schema::NodeProto&, const Site&)>& visit) {
  walk(model, nodes_that_run(visit));
}

void for_each_node(const schema::FunctionProto& function, const std::string& site,
                   const std::function<void(const schema::NodeProto&, const Site&)>& visit) {
  walk(function, site, nodes_that_run(visit));
}

void for_each_subgraph(const schema::NodeProto& node, const std::string& site,
                       const std::function<void(const schema::GraphProto&, const std::string& site)>& visit) {
  const Visitor visitor = only_subgraphs(visit);
  Walk(site, visitor).attributes(node.attribute(), "attribute");
}

void for_each_default_graph(const schema::FunctionProto& function, const std::string& site,
                            const std::function<void(const schema::GraphProto&, const std::string& site)>& visit) {
  const Visitor visitor = only_subgraphs(visit);
  Walk(site, visitor).attributes(function.attribute_proto(), "attribute_proto");
}

std::string site_in(std::string site, std::string_view step) {
  onnx::append_step(site, step);
  return site;
}

std::string site_of_node(const std::string& owner, int index) {
  return site_in(owner, base::concat(".node[", index, "]"));
}

// The public walks over the tensors of a model: see onnxar/model/model.h.

void for_each_tensor(schema::ModelProto& model, const std::function<void(schema::TensorProto&)>& visit) {
  base::check_visitor(visit);
  walk(model, {.tensor = [&visit](const auto& tensor, const Site&) { visit(changeable(tensor)); }});
}

void for_each_tensor(schema::ModelProto& model,
                     const std::function<void(schema::TensorProto&, const TensorInfo&)>& visit) {
  base::check_visitor(visit);
  walk(model, {.tensor = [&visit](const auto& tensor, const Site& site) {
         visit(changeable(tensor), info_of(tensor, site.text()));
       }});
}

void for_each_tensor(const schema::ModelProto& model,
                     const std::function<void(const schema::TensorProto&, const TensorInfo&)>& visit) {
  base::check_visitor(visit);
  walk(model,
       {.tensor = [&visit](const auto& tensor, const Site& site) { visit(tensor, info_of(tensor, site.text())); }});
}

}  // namespace onnxar
