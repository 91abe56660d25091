// Splits one graph into a skeleton and payloads.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "onnx/rewrite.h"
#include "skeleton/loaded_model.h"

namespace onnxar {

/// Adds payloads and remarks to a model. Links of the graph lead to payloads that the model has already, to what
/// `model.source` finds or, without a source, nowhere.
class Splitter {
 public:
  /// `owner` keeps the bytes of the graph alive. All must outlive the splitter.
  Splitter(LoadedModel& model, std::shared_ptr<const void> owner, const ExternalPolicy& policy,
           const LoadOptions& options, const base::FileOrigin* file = nullptr)
      : model_(model), owner_(std::move(owner)), file_(file), policy_(policy), options_(options) {}

  /// The skeleton of `graph`. Errors: as `load_model` and `set_skeleton`, counted from the graph's first byte.
  /// Cost: O(fields); no payload byte is touched, except values of typed fields.
  [[nodiscard]] std::vector<std::byte> run(Bytes graph);

 private:
  onnx::TensorEdit split(const onnx::TensorSite& site);
  onnx::TensorEdit split_external(const onnx::TensorSite& site);
  onnx::TensorEdit split_raw(const onnx::TensorSite& site);
  onnx::TensorEdit split_typed(const onnx::TensorSite& site);
  onnx::TensorEdit split_for_the_way(const onnx::TensorSite& site);
  [[nodiscard]] onnx::TensorEdit keep_link_of_message(const onnx::TensorSite& site) const;
  onnx::TensorEdit link_bytes(Bytes bytes);
  onnx::TensorEdit link(Payload payload);
  [[nodiscard]] bool too_deep(const onnx::TensorSite& site) const;

  [[noreturn]] void refuse_large_skeleton(std::uint64_t size) const;
  void remark_no_type(const onnx::TensorSite& site);
  void remark_unknown_key(const onnx::TensorSite& site);
  void remark_checksum(const onnx::TensorSite& site);
  void remark(const onnx::TensorSite& site, Code code, const std::string& message);

  LoadedModel& model_;
  std::shared_ptr<const void> owner_;
  const base::FileOrigin* file_;  // what the graph is mapped from; null: nothing
  const ExternalPolicy& policy_;
  const LoadOptions& options_;
};

}  // namespace onnxar
