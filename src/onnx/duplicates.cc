// Finds names that a graph or function defines more than once.
#include "onnx/duplicates.h"

#include <algorithm>
#include <array>
#include <optional>

#include "onnx/fields.h"
#include "onnx/operators.h"
#include "onnx/wire.h"
#include "onnxar/error.h"

namespace onnxar::onnx {
namespace {

template <typename Visit>
void for_each_output(Bytes model, Range node, const Visit& visit) {
  Cursor cursor(model, node);
  for (Field field; cursor.next(field);) {
    if (field.number != node_field::output || field.type != Type::length_delimited || field.value.size() == 0) continue;
    visit(as_text(field.value.of(model)));
  }
}

/// True if ONNX Runtime treats the node as an initializer: it checks the operator and ignores its domain.
bool counts_as_initializer(Bytes model, Range node) { return op_type_of(model, node) == "Constant"; }

/// Returns the last message in field `number`, or else an empty range.
Range message_in(Bytes model, Range message, std::uint32_t number) {
  Range found;
  Cursor cursor(model, message);
  for (Field field; cursor.next(field);) {
    if (field.number == number && field.type == Type::length_delimited) found = field.value;
  }
  return found;
}

/// Returns the field of a graph or function as the step to an initializer or node; nothing for other fields.
std::optional<Level> defining(Message graph, const Field& field) {
  const auto level = [&field](Message message, std::string_view label) {
    return Level{message, label, true, 0, field, {}};
  };
  if (field.type != Type::length_delimited) return std::nullopt;
  if (graph == Message::function) {
    return field.number == function_field::node ? std::optional(level(Message::node, "node")) : std::nullopt;
  }
  switch (field.number) {
    case graph_field::node: return level(Message::node, "node");
    case graph_field::initializer: return level(Message::tensor, "initializer");
    case graph_field::sparse_initializer: return level(Message::sparse, "sparse_initializer");
    default: return std::nullopt;
  }
}

/// Returns the names that only constants define, and more than once.
base::KeyedSet<std::string_view> ambiguous_names(Bytes model, const Level& graph) {
  base::KeyedSet<std::string_view> names;
  const auto add = [&names](std::string_view name, const Level&, Range) { names.insert(name); };
  find_redefinitions(model, graph, add, Definitions::constant);
  names.erase(std::string_view());  // nothing can take an initializer without a name
  if (names.empty()) return names;
  Cursor cursor(model, graph.field.value);
  for (Field field; cursor.next(field);) {
    const auto by = defining(graph.message, field);
    if (!by || by->message != Message::node || counts_as_initializer(model, field.value)) continue;
    for_each_output(model, field.value, [&names](std::string_view name) { names.erase(name); });
  }
  return names;
}

}  // namespace

void find_redefinitions(Bytes model, const Level& graph, const VisitRedefinition& visit, Definitions which) {
  base::KeyedSet<std::string_view> names;
  std::array<std::uint64_t, 3> counts{};  // nodes, tensors, sparse tensors
  Cursor cursor(model, graph.field.value);
  for (Field field; cursor.next(field);) {
    auto by = defining(graph.message, field);
    if (!by) continue;
    const auto define = [&](std::string_view name, Range place) {
      if (!names.insert(name).second) visit(name, *by, place);
    };
    if (by->message == Message::node) {
      by->index = counts[0]++;
      if (which == Definitions::constant && !counts_as_initializer(model, field.value)) continue;
      for_each_output(model, field.value, [&](std::string_view name) { define(name, field.value); });
    } else {
      by->index = counts[by->message == Message::tensor ? 1 : 2]++;
      const Range tensor =
          by->message == Message::tensor ? field.value : message_in(model, field.value, sparse_field::values);
      if (tensor.begin != 0) define(string_in(model, tensor, tensor_field::name), tensor);
    }
  }
}

bool DuplicateNames::has(const TensorSite& site) {
  if (site.kind == SiteKind::sparse_indices) return false;  // they have no name of the graph's
  // The innermost graph or node that holds the tensor decides.
  const auto is_holder = [](const Level& level) {
    return level.message == Message::graph || level.message == Message::node;
  };
  const auto holder = std::find_if(site.levels.rbegin(), site.levels.rend(), is_holder);
  if (holder == site.levels.rend()) return false;  // a default of a function's attribute
  const auto depth = static_cast<std::size_t>(site.levels.rend() - holder) - 1;
  if (known_.size() <= depth) known_.resize(depth + 1);  // before references into it are taken
  return holder->message == Message::node ? is_node_twice(site, depth)
                                          : names_in(site, depth).contains(site.tensor.name);
}

DuplicateNames::Known* DuplicateNames::begin_reading(const TensorSite& site, std::size_t depth) {
  Known& known = known_[depth];
  const std::uint64_t begin = site.levels[depth].field.value.begin;
  if (known.begin == begin) return nullptr;
  known = {.begin = begin};
  return &known;
}

const DuplicateNames::Names& DuplicateNames::names_in(const TensorSite& site, std::size_t depth) {
  if (Known* const known = begin_reading(site, depth)) {
    try {
      known->names = ambiguous_names(site.model, site.levels[depth]);
    } catch (const Error&) {
      known->names.clear();  // the walk reports the damage when it gets there
    }
  }
  return known_[depth].names;
}

bool DuplicateNames::is_node_twice(const TensorSite& site, std::size_t depth) {
  const Names& names = names_in(site, depth - 1);
  if (names.empty()) return false;
  // A node with a million tensors is read once, not a million times.
  if (Known* const known = begin_reading(site, depth)) {
    try {
      for_each_output(site.model, site.levels[depth].field.value,
                      [&](std::string_view name) { known->is_twice = known->is_twice || names.contains(name); });
    } catch (const Error&) {
      known->is_twice = false;
    }
  }
  return known_[depth].is_twice;
}

}  // namespace onnxar::onnx
