// The data files that the links of a model lead to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/mapped_file.h"
#include "onnx/external_data.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// Maps the files that a model's tensors name, each once, and only files in the model's folder (or in the folder
/// given).
class ExternalFiles {
 public:
  using Mapping = std::shared_ptr<const base::MappedFile>;

  /// `model` is the path of the `.onnx` file. `data_dir` is the folder of its data if that is another one; then the
  /// path does not matter.
  ExternalFiles(const std::filesystem::path& model, const std::filesystem::path& data_dir);

  struct Part {
    ByteSpan bytes;  ///< with a share in the mapping
    const base::FileOrigin* file = nullptr;
    bool is_whole = false;
  };
  /// The bytes that `slice` names, `expected` long where it has no length.
  /// Errors: onnx.external_data.bad_location, .outside, .missing, .out_of_range, io.*; at `offset` of the model.
  Part resolve(const onnx::ExternalSlice& slice, std::optional<std::uint64_t> expected, std::uint64_t offset);

  /// The whole file that `location` names. Errors: as `resolve`, except .out_of_range.
  Mapping map(const std::string& location, std::uint64_t offset);

  /// The length of the regular file that `location` names; nothing if there is none, or if the model may not name it.
  [[nodiscard]] std::optional<std::uint64_t> size_of(const std::string& location) const;

  /// The real path of the folder that the locations are beneath.
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
  /// Bytes of all files that were mapped so far.
  [[nodiscard]] std::uint64_t size() const noexcept;

 private:
  [[nodiscard]] Mapping open(const std::string& location, std::uint64_t offset) const;

  std::filesystem::path folder_;       // real path of the folder that was named
  std::filesystem::path link_folder_;  // real path of the folder of the file that the model's name leads to
  std::map<std::string, Mapping> by_location_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Mapping> files_;  // by device and inode
};

/// Why `location` cannot be a path beneath a folder; nothing if it can.
std::optional<std::string> location_fault(std::string_view location);

}  // namespace onnxar
