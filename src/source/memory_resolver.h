// Refuses links of a serialised model in memory, which has no folder.
#pragma once

#include "source/resolver.h"

namespace onnxar {

/// Every link to data is an error.
class MemoryResolver final : public Resolver {
 public:
  /// `path` is for messages: the model's file, or empty for bytes.
  MemoryResolver(GraphBytes graph, const LoadOptions& options, std::filesystem::path path = {})
      : Resolver(options, std::move(path), std::move(graph)) {}

  [[nodiscard]] std::uint64_t input_size() const override { return model().size(); }

 private:
  /// Errors: onnx.external_data.missing, always.
  Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override;
};

}  // namespace onnxar
