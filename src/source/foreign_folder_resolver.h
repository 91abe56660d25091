// Resolves links of a model in a folder that PyTorch's older exporter wrote.
#pragma once

#include <filesystem>

#include "source/external_files.h"
#include "source/resolver.h"

namespace onnxar {

/// Each tensor's data is a file with the tensor's name. Stand-ins in the model become links to these files.
class ForeignFolderResolver final : public Resolver {
 public:
  /// `model` is the path of the model in the folder. Errors: io.*; wire.*, onnx.* of the model.
  ForeignFolderResolver(const std::filesystem::path& model, const LoadOptions& options);

  /// Without an offset once stand-ins became links: the graph's bytes are then not those of the file.
  [[nodiscard]] Place place(std::optional<std::uint64_t> offset) const override {
    return {"", is_linked_ ? std::nullopt : offset};
  }
  [[nodiscard]] std::uint64_t input_size() const override { return model().size() + files_.size(); }
  [[nodiscard]] std::vector<Finding> remarks() const override;

 private:
  Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override;
  [[nodiscard]] std::optional<std::uint64_t> size_of(std::string_view tensor_name);

  ExternalFiles files_;
  bool is_linked_ = false;
};

}  // namespace onnxar
