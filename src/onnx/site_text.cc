// Writes the text of a site, and keeps it short.
#include "onnx/site_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/text.h"

namespace onnxar::onnx {
namespace {

/// FNV-1a. Without a key, because sites are compared across runs and machines.
std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace

void append_step(std::string& site, std::string_view step) {
  constexpr std::size_t head = 100;
  if (site.empty() && step.starts_with('.')) step.remove_prefix(1);
  if (site.size() + step.size() > longest_site) {
    std::array<char, 18> digits{};
    std::snprintf(digits.data(), digits.size(), "~%016llx", static_cast<unsigned long long>(hash_of(site)));
    site.resize(std::min(site.size(), head));
    site += digits.data();
  }
  site += step;
}

void append_step(std::string& site, std::string_view label, std::optional<std::uint64_t> index, std::string_view name) {
  const std::string subscript = index ? base::concat("[", *index, "]") : "";
  if (label.empty()) {
    // `attr.value` is the tensor, `attr.value[2]` the third of `tensors`. An attribute has only one kind of value, so
    // the field's name is redundant.
    append_step(site, subscript);
  } else if (name.empty()) {
    append_step(site, base::concat(".", label, subscript));
  } else {
    append_step(site, base::concat(".", label == "attribute" ? "attr" : label, ".", name));
  }
}

std::string_view name_for_path(std::string_view attribute) noexcept {
  const bool fits =
      attribute.size() <= longest_name_in_site && std::ranges::all_of(attribute, base::is_identifier_character);
  return fits ? attribute : std::string_view();
}

std::string path_of(std::span<const Level> levels, std::string_view root) {
  std::string text(root);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Level& level = levels[i];
    const bool in_attribute = i > 0 && levels[i - 1].message == Message::attribute;
    append_step(text, in_attribute ? std::string_view() : level.label,
                level.repeated ? std::optional(level.index) : std::nullopt, level.name);
  }
  return text;
}

}  // namespace onnxar::onnx
