// Decides which tensors have their data outside the model.
#pragma once

#include <cstdint>
#include <optional>

#include "onnx/sites.h"
#include "onnxar/options.h"

namespace onnxar {

/// In bytes. ONNX Runtime and shape inference read small integer tensors (shapes, axes) while they build the graph,
/// before external data is available. INT32 and INT64 tensors below this size stay inline at any threshold.
inline constexpr std::uint64_t small_integers_below = 1024;

/// Decides which data is external in one form of output.
class ExternalPolicy {
 public:
  /// Keeps all data in the model.
  static ExternalPolicy everything_inline();
  /// Returns the rule for files. Inline and text formats keep all data in the model.
  static ExternalPolicy of(const SaveOptions& options);
  /// Returns the rule for models in memory: every payload of at least the threshold, at any site.
  static ExternalPolicy of(const LoadOptions& options);

  /// True if the data of a tensor at this site, with `size` bytes, belongs outside the model.
  [[nodiscard]] bool is_external(const onnx::TensorSite& site, std::uint64_t size) const;

 private:
  std::optional<std::uint64_t> threshold_;
  bool all_sites_ = false;
  bool attributes_ = true;
  bool subgraphs_ = true;
};

}  // namespace onnxar
