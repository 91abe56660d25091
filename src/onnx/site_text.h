// The text of a site: where in a model something is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace onnxar::onnx {

/// A site has at most so many bytes, and names of attributes in it too, so that a list of all sites of a model is not
/// longer than a constant times the model. A site of usual depth is far shorter.
inline constexpr std::size_t longest_site = 200;
inline constexpr std::size_t longest_name_in_site = 64;

/// Adds a step, `.node[3]`, `.attr.value` or `[2]`, to a site; the first step loses its dot. Where the site would be
/// too long, `~` and 16 digits that all steps so far decide take the place of its middle:
/// `graph.node[0].attr.body.no~0123456789abcdef.initializer[7]`.
void append_step(std::string& site, std::string_view step);

/// An attribute's name as it is in a site: nothing where it is not an identifier, or is too long; then its number is
/// there.
std::string_view name_for_path(std::string_view attribute) noexcept;

}  // namespace onnxar::onnx
