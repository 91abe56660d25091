// Reads the operator of a node, and compares domains. The default domain has two spellings.
#pragma once

#include <string_view>

#include "onnx/fields.h"
#include "onnx/wire.h"
#include "onnxar/bytes.h"

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

/// Returns the domain for output: the default domain has its name.
constexpr std::string_view domain_name(std::string_view domain) noexcept {
  return is_default_domain(domain) ? default_domain : domain;
}

/// Returns the operator of the NodeProto at `node`, such as "Constant"; empty if it has none or is damaged before that
/// field.
inline std::string_view op_type_of(Bytes model, Range node) noexcept {
  return string_in(model, node, node_field::op_type);
}
/// Returns the domain of that operator; empty in the same cases.
inline std::string_view domain_of(Bytes model, Range node) noexcept {
  return string_in(model, node, node_field::domain);
}
/// True if `node` is a Constant node of the default domain.
inline bool is_constant(Bytes model, Range node) noexcept {
  return op_type_of(model, node) == "Constant" && is_default_domain(domain_of(model, node));
}

}  // namespace onnxar::onnx
