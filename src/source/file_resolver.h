// Resolves links of a `.onnx` file, or of its bytes, to data files in a folder.
#pragma once

#include <memory>
#include <string>

#include "source/archive_resolver.h"
#include "source/external_files.h"
#include "source/link_marker.h"
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

// Refuses links of a serialised model in memory, which has no folder.

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

// Resolves links of a `.onnx` file whose data is in the file of an archive (onnxar/link.h).

/// A tensor whose location is the archive's name has its data in an entry of the archive, any other in a data file.
class LinkResolver final : public FileResolver {
 public:
  LinkResolver(GraphBytes graph, const std::filesystem::path& path, const LoadOptions& options)
      : FileResolver(std::move(graph), path, options), marker_(*this), payloads_(options) {}

  const Archive* linked_archive(const std::string& location, std::uint64_t offset_of_tensor) override;
  [[nodiscard]] const Archive* linked_archive() const noexcept override { return linked_.get(); }

 private:
  Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override;

  ModelMarker marker_;
  EntryPayloads payloads_;                 // of `linked_`
  std::shared_ptr<const Archive> linked_;  // in the state of the marker; opened at its first use
};

}  // namespace onnxar
