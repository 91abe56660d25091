// Splits one graph into a skeleton and payloads.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file_origin.h"
#include "onnx/rewrite.h"
#include "skeleton/loaded_model.h"

namespace onnxar {

/// Splits one graph, and adds its payloads and remarks to a model. A link of the graph names a payload that the model
/// already has, or data that `model.source` finds. Without a source a link to a file cannot be resolved.
class Splitter {
 public:
  /// `owner` keeps the bytes of the graph alive, and `file` is the origin of their mapping, if there is one. The
  /// referenced objects must outlive the splitter.
  Splitter(LoadedModel& model, std::shared_ptr<const void> owner, const ExternalPolicy& policy,
           const LoadOptions& options, const base::FileOrigin* file = nullptr)
      : model_(model), owner_(std::move(owner)), file_(file), policy_(policy), options_(options) {}

  /// The skeleton of `graph`. Errors: as `load_model` and `set_skeleton`, counted from the graph's first byte.
  /// Cost: O(fields); no payload byte is touched, except values of typed fields.
  [[nodiscard]] std::vector<std::byte> run(Bytes graph);
  /// The tensors without data that `run` found.
  [[nodiscard]] PlacesWithoutData take_without_data() noexcept { return std::move(without_data_); }

 private:
  onnx::TensorEdit split(const onnx::TensorSite& site);
  onnx::TensorEdit split_external(const onnx::TensorSite& site);
  onnx::TensorEdit split_raw(const onnx::TensorSite& site);
  onnx::TensorEdit split_typed(const onnx::TensorSite& site);
  onnx::TensorEdit split_inline(const onnx::TensorSite& site);
  [[nodiscard]] onnx::TensorEdit keep_link_of_message(const onnx::TensorSite& site) const;
  onnx::TensorEdit link_bytes(Bytes bytes);
  onnx::TensorEdit link(Payload payload);
  [[nodiscard]] bool too_deep(const onnx::TensorSite& site) const;

  [[noreturn]] void refuse_large_skeleton(std::uint64_t size) const;
  void remark_no_type(const onnx::TensorSite& site);
  void remark_unknown_key(const onnx::TensorSite& site);
  void remark_checksum(const onnx::TensorSite& site);
  [[nodiscard]] Place place_of(const onnx::TensorSite& site) const;
  void remark(const onnx::TensorSite& site, Code code, const std::string& message);

  LoadedModel& model_;
  std::shared_ptr<const void> owner_;
  const base::FileOrigin* file_;  // of the graph's mapping; null if it is not mapped
  const ExternalPolicy& policy_;
  const LoadOptions& options_;
  PlacesWithoutData without_data_;
};

}  // namespace onnxar
