// Domains of operators.
#pragma once

#include <string_view>

namespace onnxar::onnx {

/// The name of the default domain, that of ONNX's own operators, which is also spelt as nothing at all.
inline constexpr std::string_view default_domain = "ai.onnx";

constexpr bool is_default_domain(std::string_view domain) noexcept {
  return domain.empty() || domain == default_domain;
}

/// One spelling for every domain: nothing for the default one. What compares or counts domains goes by it.
constexpr std::string_view canonical_domain(std::string_view domain) noexcept {
  return is_default_domain(domain) ? std::string_view() : domain;
}

/// The domain in full, for people: `ai.onnx` for the default one.
constexpr std::string_view domain_name(std::string_view domain) noexcept {
  return is_default_domain(domain) ? default_domain : domain;
}

}  // namespace onnxar::onnx
