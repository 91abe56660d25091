// Finds the data of a model in files beside it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mapped_file.h"
#include "convert/entry_payloads.h"
#include "convert/external_files.h"
#include "convert/links.h"
#include "convert/model_source.h"
#include "onnx/external_data.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/options.h"

namespace onnxar {

/// Resolves links to data files. If the model is a link (onnxar/link.h), a tensor whose location is the archive's name
/// has its data in an entry of that archive.
class FileSource final : public ModelSource {
 public:
  /// `path` is the model's file; empty for a model in memory. Without `files`, every link to data is an error, because
  /// a model in memory has no folder.
  FileSource(GraphBytes graph, const std::filesystem::path& path, const LoadOptions& options,
             std::optional<ExternalFiles> files)
      : ModelSource(options, path, std::move(graph)), files_(std::move(files)), payloads_(options) {}

  [[nodiscard]] std::uint64_t input_size() const override { return model().size() + (files_ ? files_->size() : 0); }
  [[nodiscard]] Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override;
  /// Returns the files that links lead to; null for a model in memory.
  [[nodiscard]] const ExternalFiles* files() const noexcept { return files_ ? &*files_ : nullptr; }
  /// See ExternalFiles::look_in.
  void look_in(const std::filesystem::path& root, const std::vector<std::string>& folders,
               const std::shared_ptr<ExternalFiles::Files>& files) {
    if (files_) files_->look_in(root, folders, files);
  }
  /// Returns the archive whose file is named `location`, in the state that the link was made from; null if the model is
  /// not a link to it. Throws onnx.link.*, and what ExternalFiles::map throws. REQUIRES: there are files.
  const Archive* linked_archive(const std::string& location, std::uint64_t offset_of_tensor);
  /// Returns that archive if it was opened before; otherwise null.
  [[nodiscard]] const Archive* linked_archive() const noexcept { return linked_.get(); }

  using ModelSource::add_remark;

 private:
  [[nodiscard]] onnx::ExternalSlice link_of(const onnx::TensorView& tensor) const override;

  std::optional<ExternalFiles> files_;
  ModelMarker marker_;
  EntryPayloads payloads_;                 // makes payloads of `linked_`
  std::shared_ptr<const Archive> linked_;  // in the state of the marker; opened at its first use
};

/// Returns the files that links of `source` lead to; null if links do not lead to files.
const ExternalFiles* files_of(const ModelSource& source);

}  // namespace onnxar
