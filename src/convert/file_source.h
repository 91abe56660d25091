// Finds the data of a `.onnx` file, or of its bytes, in files of a folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mapped_file.h"
#include "convert/archive_source.h"
#include "convert/links.h"
#include "convert/model_source.h"
#include "onnx/external_data.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// Maps each file that a model's tensors name once. Opens only files beneath the model's folder, or beneath the folder
/// that replaces it. Move-only. Not synchronised.
class ExternalFiles {
 public:
  using Mapping = std::shared_ptr<const base::MappedFile>;

  /// `model` is the path of the `.onnx` file, whose folder holds the data. A `data_dir` that is not empty replaces that
  /// folder; `model` may then be empty. Errors: io.* (the folder does not exist).
  ExternalFiles(const std::filesystem::path& model, const std::filesystem::path& data_dir);

  struct Part {
    ByteSpan bytes;                          ///< with a share in the mapping
    const base::FileOrigin* file = nullptr;  ///< of the mapping
    bool is_whole = false;                   ///< whether it is all of the file
  };
  /// The bytes that `slice` names. If it has no length, they are `expected` long, or go to the end of the file.
  /// Errors: onnx.external_data.bad_location, .outside, .missing, .out_of_range, io.*; at `offset` of the model.
  Part resolve(const onnx::ExternalSlice& slice, std::optional<std::uint64_t> expected, std::uint64_t offset);

  /// The whole file that `location` names. Errors: as `resolve`, except .out_of_range.
  Mapping map(const std::string& location, std::uint64_t offset);

  /// The length in bytes of the regular file that `location` names; nothing if it does not exist, or if the model may
  /// not name it. Does not map the file.
  [[nodiscard]] std::optional<std::uint64_t> size_of(const std::string& location) const;

  /// The locations of the files mapped so far, as names in the folder: `a//./b` is `a/b`.
  [[nodiscard]] std::vector<std::string> names() const;
  /// The real path of the folder that locations count from.
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
  /// The number of bytes of all files mapped so far.
  [[nodiscard]] std::uint64_t size() const noexcept;

 private:
  [[nodiscard]] Mapping open(const std::string& location, std::uint64_t offset) const;

  std::filesystem::path folder_;       // real path of the folder that the caller named
  std::filesystem::path link_folder_;  // real path of the folder of the model's own file, after symbolic links
  std::map<std::string, Mapping> by_location_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Mapping> files_;  // by device and inode
};

/// Says why `location` cannot be a path beneath a folder; nothing if it can.
std::optional<std::string> location_fault(std::string_view location);

/// Links lead to data files. If the model is a link (onnxar/link.h), a tensor whose location is the archive's name has
/// its data in an entry of that archive.
class FileSource final : public ModelSource {
 public:
  /// `path` is the model's file, or empty for bytes. Without `files`, every link to data is an error: a model in memory
  /// has no folder.
  FileSource(GraphBytes graph, const std::filesystem::path& path, const LoadOptions& options,
             std::optional<ExternalFiles> files)
      : ModelSource(options, path, std::move(graph)), files_(std::move(files)), marker_(*this), payloads_(options) {}

  [[nodiscard]] std::uint64_t input_size() const override { return model().size() + (files_ ? files_->size() : 0); }
  [[nodiscard]] Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override;
  /// The files that links lead to; null for a model in memory.
  [[nodiscard]] const ExternalFiles* files() const noexcept { return files_ ? &*files_ : nullptr; }
  /// The archive whose file has the name `location`, in the state that the link was made from. Null if the model is not
  /// a link to it. Errors: onnx.link.*; as ExternalFiles::map. REQUIRES: there are files.
  const Archive* linked_archive(const std::string& location, std::uint64_t offset_of_tensor);
  /// That archive if it was opened before; otherwise null.
  [[nodiscard]] const Archive* linked_archive() const noexcept { return linked_.get(); }

  using ModelSource::add_remark;

 private:
  std::optional<ExternalFiles> files_;
  ModelMarker marker_;
  EntryPayloads payloads_;                 // of `linked_`
  std::shared_ptr<const Archive> linked_;  // in the state of the marker; opened at its first use
};

/// The files that links of `source` lead to; null if links do not lead to files.
const ExternalFiles* files_of(const ModelSource& source);

}  // namespace onnxar
