// Domains of operators. The default domain has two spellings. All code that compares domains uses these functions.
#pragma once

#include <string_view>

namespace onnxar::onnx {

/// The name of the default domain, which has ONNX's own operators. Models may also write it as an empty string.
inline constexpr std::string_view default_domain = "ai.onnx";

constexpr bool is_default_domain(std::string_view domain) noexcept {
  return domain.empty() || domain == default_domain;
}

/// Gives each domain one spelling, for comparing and counting: the default domain is empty.
constexpr std::string_view canonical_domain(std::string_view domain) noexcept {
  return is_default_domain(domain) ? std::string_view() : domain;
}

/// The domain for output: the default domain has its name.
constexpr std::string_view domain_name(std::string_view domain) noexcept {
  return is_default_domain(domain) ? default_domain : domain;
}

}  // namespace onnxar::onnx
