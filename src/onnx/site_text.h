// Writes the text of a site, which is a place in a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "onnx/wire.h"

namespace onnxar::onnx {

/// The messages on the paths to tensors.
enum class Message : std::uint8_t { model, graph, node, function, attribute, training, sparse, tensor };

/// One embedded message on the path from the model to a tensor.
struct Level {
  Message message = Message::model;
  std::string_view label;  ///< the field's name
  bool repeated = false;
  std::uint64_t index = 0;  ///< among the fields of this number
  Field field;
  std::string_view name;  ///< of an attribute, by name_for_path
};

/// Limits of the bytes of a site, and of an attribute's name in it. They keep the list of all sites linear in the
/// model's size, which deep nesting and long names could make quadratic. Sites of ordinary models are far shorter.
inline constexpr std::size_t longest_site = 200;
inline constexpr std::size_t longest_name_in_site = 64;

/// Appends a step, `.node[3]`, `.attr.value` or `[2]`, to a site; the first step loses its dot. If the site would be
/// too long, its middle is replaced by `~` and 16 digits, a hash of all steps so far:
/// `graph.node[0].attr.body.no~0123456789abcdef.initializer[7]`.
void append_step(std::string& site, std::string_view step);

/// Appends the step for a field with this label (empty: the value of an attribute), its index if it is repeated, and
/// its `name_for_path` if it is an attribute.
void append_step(std::string& site, std::string_view label, std::optional<std::uint64_t> index, std::string_view name);

/// Returns an attribute's name for a site. Empty if it is not an identifier or is too long; the site then has its
/// number.
std::string_view name_for_path(std::string_view attribute) noexcept;

/// Returns the text of a site: `graph.node[3].attr.value`, `graph.initializer[7]`, `functions[0].node[1].attribute[0]`.
/// Attributes have their name if it is an identifier. At most `longest_site` bytes. The levels are below the site
/// `root`, unless it is empty.
std::string path_of(std::span<const Level> levels, std::string_view root = {});

}  // namespace onnxar::onnx
