// Domains of operators. The default domain has two spellings; nothing else in the code compares with either of them.
#pragma once

#include <string_view>

namespace onnxar::onnx {

/// The name of the default domain, that of ONNX's own operators. Models may leave it empty as well.
inline constexpr std::string_view default_domain = "ai.onnx";

constexpr bool is_default_domain(std::string_view domain) noexcept {
  return domain.empty() || domain == default_domain;
}

/// One spelling for every domain, for comparing and counting: the default one is empty.
constexpr std::string_view canonical_domain(std::string_view domain) noexcept {
  return is_default_domain(domain) ? std::string_view() : domain;
}

/// The domain as it is shown: the default one by its name.
constexpr std::string_view domain_name(std::string_view domain) noexcept {
  return is_default_domain(domain) ? default_domain : domain;
}

}  // namespace onnxar::onnx
