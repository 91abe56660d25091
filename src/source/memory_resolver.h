// A serialised model in memory, without a folder that its links could lead into.
#pragma once

#include "source/resolver.h"

namespace onnxar {

class MemoryResolver final : public Resolver {
 public:
  /// `path` is that of a file whose links lead nowhere, empty for bytes.
  MemoryResolver(GraphBytes graph, const LoadOptions& options, std::filesystem::path path = {})
      : Resolver(options, std::move(path), std::move(graph)) {}

  [[nodiscard]] Place place(std::optional<std::uint64_t> offset) const override {
    return {"", from_text() ? std::nullopt : offset};
  }
  [[nodiscard]] std::uint64_t input_size() const override { return model().size(); }

 private:
  /// Errors: onnx.external_data.missing, always.
  Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override;
};

}  // namespace onnxar
