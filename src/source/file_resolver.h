// Resolves links of a `.onnx` file, or of its bytes, to data files in a folder.
#pragma once

#include "source/external_files.h"
#include "source/resolver.h"

namespace onnxar {

/// Finds the part of a data file that a link names. Errors: as ExternalFiles::resolve.
Resolved resolve_in(ExternalFiles& files, const onnx::TensorView& tensor, const onnx::ExternalSlice& slice);

/// Links lead to data files. LinkResolver derives from it, because a link may have data files beside its archive.
class FileResolver : public Resolver {
 public:
  /// `path` is the model's file. Its folder holds the data unless LoadOptions::external_data_dir names a different one;
  /// then `path` may be empty. Errors: io.* (the folder does not exist).
  FileResolver(GraphBytes graph, const std::filesystem::path& path, const LoadOptions& options)
      : Resolver(options, path, std::move(graph)), files_(path, options.external_data_dir) {}

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
