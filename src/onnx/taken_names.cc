// Finds the initializers of the main graph that nodes take, as a runtime sees it.
#include "onnx/taken_names.h"

#include <cstdint>
#include <span>

#include "onnx/fields.h"
#include "onnx/wire.h"

namespace onnxar::onnx {
namespace {

using Names = base::KeyedSet<std::string_view>;

void add_texts(Names& names, Bytes model, Range message, std::uint32_t number) {
  Cursor cursor(model, message);
  for (Field field; cursor.next(field);) {
    if (field.number == number && field.type == Type::length_delimited) names.insert(as_text(field.value.of(model)));
  }
}

/// Adds the name that an initializer or input in `field` of a subgraph defines, and those of a node's outputs.
void add_defined(Names& names, Bytes model, const Field& field) {
  switch (field.number) {
    case graph_field::node: return add_texts(names, model, field.value, node_field::output);
    case graph_field::initializer: return add_texts(names, model, field.value, tensor_field::name);
    case graph_field::input: return add_texts(names, model, field.value, value_field::name);
    case graph_field::sparse_initializer: {
      Cursor cursor(model, field.value);
      for (Field part; cursor.next(part);) {
        if (part.number == sparse_field::values && part.type == Type::length_delimited)
          add_texts(names, model, part.value, tensor_field::name);
      }
      return;
    }
    default: return;
  }
}

}  // namespace

base::KeyedSet<std::string_view> taken_names(Bytes model) {
  Names taken, taken_below, defined_below;
  const auto visit = [&](std::span<const Level> graph) {
    if (graph.front().message != Message::graph) return;  // of functions, and graphs for training
    const bool is_main = graph.size() == 1;
    Cursor cursor(model, graph.back().field.value);
    for (Field field; cursor.next(field);) {
      if (field.type != Type::length_delimited) continue;
      if (field.number == graph_field::node)
        add_texts(is_main ? taken : taken_below, model, field.value, node_field::input);
      if (!is_main) add_defined(defined_below, model, field);
    }
  };
  walk_graphs(model, visit);
  for (const std::string_view name : taken_below) {
    if (!defined_below.contains(name)) taken.insert(name);
  }
  return taken;
}

}  // namespace onnxar::onnx
