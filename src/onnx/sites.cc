// Finds every tensor of a model by walking over its messages.
#include "onnx/sites.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/kept.h"
#include "base/text.h"
#include "onnx/fields.h"
#include "onnx/operators.h"
#include "onnx/site_text.h"
#include "onnx/wire.h"
#include "onnxar/error.h"

namespace onnxar::onnx {
namespace {

/// One step of the schema on the way to tensors: a field of `parent` holds a `child`.
struct Path {
  Message parent;
  std::uint32_t number;
  Message child;
  std::string_view label;
  bool repeated;
};

constexpr std::array paths = {
    Path{Message::model, model_field::graph, Message::graph, "graph", false},
    Path{Message::model, model_field::training_info, Message::training, "training_info", true},
    Path{Message::model, model_field::functions, Message::function, "functions", true},
    Path{Message::graph, graph_field::node, Message::node, "node", true},
    Path{Message::graph, graph_field::initializer, Message::tensor, "initializer", true},
    Path{Message::graph, graph_field::sparse_initializer, Message::sparse, "sparse_initializer", true},
    Path{Message::node, node_field::attribute, Message::attribute, "attribute", true},
    Path{Message::function, function_field::node, Message::node, "node", true},
    Path{Message::function, function_field::attribute_proto, Message::attribute, "attribute_proto", true},
    Path{Message::attribute, attribute_field::t, Message::tensor, "t", false},
    Path{Message::attribute, attribute_field::g, Message::graph, "g", false},
    Path{Message::attribute, attribute_field::tensors, Message::tensor, "tensors", true},
    Path{Message::attribute, attribute_field::graphs, Message::graph, "graphs", true},
    Path{Message::attribute, attribute_field::sparse_tensor, Message::sparse, "sparse_tensor", false},
    Path{Message::attribute, attribute_field::sparse_tensors, Message::sparse, "sparse_tensors", true},
    Path{Message::training, training_field::initialization, Message::graph, "initialization", false},
    Path{Message::training, training_field::algorithm, Message::graph, "algorithm", false},
    Path{Message::sparse, sparse_field::values, Message::tensor, "values", false},
    Path{Message::sparse, sparse_field::indices, Message::tensor, "indices", false},
};

std::optional<std::size_t> find_path(Message parent, const Field& field) noexcept {
  // A field whose wire type differs from the schema's is an unknown field, as in protobuf.
  if (field.type != Type::length_delimited) return std::nullopt;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (paths[i].parent == parent && paths[i].number == field.number) return i;
  }
  return std::nullopt;
}

SiteKind kind_of(std::span<const Level> levels) {
  const auto is = [](Message message) { return [message](const Level& level) { return level.message == message; }; };
  const std::string_view label = levels.back().label;
  if (label == "indices") return SiteKind::sparse_indices;
  if (std::ranges::any_of(levels, is(Message::training))) return SiteKind::training;
  const auto is_default = [](const Level& level) { return level.label == "attribute_proto"; };
  if (std::ranges::any_of(levels, is_default)) return SiteKind::function_default;
  if (label == "values") return SiteKind::sparse_values;
  return label == "initializer" ? SiteKind::initializer : SiteKind::attribute;
}

using VisitTensor = std::function<void(const TensorSite&)>;
using VisitGraph = std::function<void(std::span<const Level>)>;

class Walk {
 public:
  /// Without a function for tensors, these are not read.
  Walk(base::Kept<Bytes> model, base::Kept<const VisitTensor> tensors, base::Kept<const VisitGraph> graphs)
      : model_(model), tensors_(tensors), graphs_(graphs) {}

  void run() {
    walk(Message::model, {0, model_.size()});
    if (!graph_seen_) {
      throw Error(Code::onnx_model_invalid, "this is not an ONNX model: it has no graph", {"", 0}, {},
                  {Hint::get_model_again});  // M1
    }
  }

 private:
  void walk(Message message, Range range) {
    std::array<std::uint64_t, paths.size()> seen{};
    Cursor cursor(model_, range);
    for (Field field; cursor.next(field);) {
      const auto path = find_path(message, field);
      if (path) enter(paths.at(*path), field, seen.at(*path)++);
    }
  }

  void enter(const Path& path, const Field& field, std::uint64_t index) {
    if (!path.repeated && index != 0) {
      // M7: protobuf would merge the two. Taking either of them would give a different model than protobuf reads.
      throw Error(Code::wire_repeated_message, base::concat("the field `", path.label, "` is given twice"),
                  {"", field.whole.begin});
    }
    check_depth(levels_.size(), field);
    levels_.push_back({path.child, path.label, path.repeated, index, field, {}});
    // The name is read here once, not for each tensor of the attribute: it may have many.
    if (path.child == Message::attribute) {
      levels_.back().name = name_for_path(string_in(model_, field.value, attribute_field::name));
    }
    graph_seen_ = graph_seen_ || (levels_.size() == 1 && path.child == Message::graph);
    path.child == Message::tensor ? visit_tensor(field.value) : visit_message(path.child, field.value);
    levels_.pop_back();
  }

  void visit_tensor(Range range) {
    if (!tensors_) return;
    const TensorView tensor = read_tensor(model_, range, levels_.size());
    tensors_({tensor, kind_of(levels_), levels_, model_});
  }

  void visit_message(Message message, Range range) {
    if (graphs_ && (message == Message::graph || message == Message::function)) graphs_(levels_);
    walk(message, range);
  }

  Bytes model_;
  const VisitTensor& tensors_;
  const VisitGraph& graphs_;
  std::vector<Level> levels_;
  bool graph_seen_ = false;
};

}  // namespace

bool TensorSite::is_in_subgraph() const noexcept {
  const auto node = std::ranges::find(levels, Message::node, &Level::message);
  return std::find_if(node, levels.end(), [](const Level& level) { return level.message == Message::graph; }) !=
         levels.end();
}

bool TensorSite::is_main_initializer() const noexcept {
  return levels.size() == 2;  // graph, initializer; other tensors are deeper
}

std::string_view TensorSite::constant_output() const noexcept {
  if (kind != SiteKind::attribute || levels.back().repeated) return {};
  const Level& attribute = levels[levels.size() - 2];  // the kind says that it is in a node, and a node in a graph
  const Level& node = levels[levels.size() - 3];
  // A Constant node has one attribute. A crafted one may have a million: only the first is asked.
  if (attribute.index != 0 || !is_constant(model, node.field.value)) return {};
  return string_in(model, node.field.value, node_field::output);
}

void walk_tensors(Bytes model, const std::function<void(const TensorSite&)>& visit) {
  const VisitGraph none;
  Walk(model, visit, none).run();
}

void walk_graphs(Bytes model, const std::function<void(std::span<const Level>)>& visit) {
  const VisitTensor none;
  Walk(model, none, visit).run();
}

}  // namespace onnxar::onnx
