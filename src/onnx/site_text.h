// The text of a site, which is a place in a model.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace onnxar::onnx {

/// Limits of the bytes of a site, and of an attribute's name in it. They keep the list of all sites linear in the
/// model's size, which deep nesting and long names could make quadratic. Sites of ordinary models are far shorter.
inline constexpr std::size_t longest_site = 200;
inline constexpr std::size_t longest_name_in_site = 64;

/// Appends a step, `.node[3]`, `.attr.value` or `[2]`, to a site; the first step loses its dot. If the site would be
/// too long, its middle is replaced by `~` and 16 digits, a hash of all steps so far:
/// `graph.node[0].attr.body.no~0123456789abcdef.initializer[7]`.
void append_step(std::string& site, std::string_view step);

/// An attribute's name for a site. Empty if it is not an identifier or is too long; the site then has its number.
std::string_view name_for_path(std::string_view attribute) noexcept;

}  // namespace onnxar::onnx
