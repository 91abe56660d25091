// Which tensors have their data outside the model.
#pragma once

#include <optional>

#include "onnx/sites.h"
#include "onnxar/options.h"

namespace onnxar {

/// ONNX Runtime and shape inference read small integer tensors (shapes, axes) while they build the graph, before any
/// external data is available. Below this size they stay inline at any threshold.
inline constexpr std::uint64_t small_integers_below = 1024;

/// Decides which tensors have their data outside the model.
class ExternalPolicy {
 public:
  /// Nothing is outside.
  static ExternalPolicy everything_inline();
  static ExternalPolicy of(const SaveOptions& options);
  /// For models in memory: every large payload, wherever it is.
  static ExternalPolicy of(const LoadOptions& options);

  /// Whether a tensor at this site, whose data is `size` bytes, has it outside.
  [[nodiscard]] bool is_external(const onnx::TensorSite& site, std::uint64_t size) const;

 private:
  std::optional<std::uint64_t> threshold_;
  bool all_sites_ = false;
  bool attributes_ = true;
};

}  // namespace onnxar
