// A `.onnx` file, or the bytes of one, with data files in a folder.
#pragma once

#include "source/external_files.h"
#include "source/resolver.h"

namespace onnxar {

/// The part of a data file that a link names. Errors: as ExternalFiles::resolve.
Resolved resolve_in(ExternalFiles& files, const onnx::TensorView& tensor, const onnx::ExternalSlice& slice);

class FileResolver : public Resolver {
 public:
  /// `path` is that of the model's file, beside which its data is unless LoadOptions::external_data_dir names another
  /// folder. It may be empty if there is one. Errors: io.* (there is no such folder).
  FileResolver(GraphBytes graph, const std::filesystem::path& path, const LoadOptions& options)
      : Resolver(options, path, std::move(graph)), files_(path, options.external_data_dir) {}

  [[nodiscard]] Place place(std::optional<std::uint64_t> offset) const override {
    return {"", from_text() ? std::nullopt : offset};
  }
  [[nodiscard]] std::uint64_t input_size() const override { return model().size() + files_.size(); }
  [[nodiscard]] const ExternalFiles* files() const noexcept override { return &files_; }

 protected:
  Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override {
    return resolve_in(files_, site.tensor, slice);
  }
  [[nodiscard]] ExternalFiles& own_files() noexcept { return files_; }

 private:
  ExternalFiles files_;
};

}  // namespace onnxar
