// Opens the data files that the links of a model name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mapped_file.h"
#include "onnx/external_data.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// Maps each file that a model's tensors name once. Opens only files beneath the model's folder, or beneath the folder
/// that replaces it. Not synchronised.
class ExternalFiles {
 public:
  using Mapping = std::shared_ptr<const base::MappedFile>;

  /// `model` is the path of the `.onnx` file, whose folder holds the data. A `data_dir` that is not empty replaces that
  /// folder. Errors: io.* (the folder does not exist).
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

}  // namespace onnxar
