// Maps the bytes of a model's files.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "convert/model_source.h"
#include "onnxar/model/inspect.h"

namespace onnxar {

/// Gathers the tensors of a model, and then maps its files: blocks that say what each byte is for.
class FileMapper {
 public:
  /// `path` is the file that `source` was opened from. All arguments must outlive this object.
  FileMapper(const std::filesystem::path& path, const ModelSource& source, const LoadOptions& options)
      : path_(path), source_(source), options_(options) {}

  void add(const onnx::TensorSite& site);
  /// Returns the map of the model's file, then those of its data files by name. Sums up their blocks in `storage`.
  /// Errors: as `ls`.
  std::vector<FileMap> finish(StorageSummary& storage) &&;

 private:
  void add_link(const onnx::TensorSite& site);
  FileMap map_of_archive(StorageSummary& storage);
  FileMap map_of_data_file(const std::string& location, std::vector<FileBlock>& slices, StorageSummary& storage) const;
  void append_model(FileMap& map, std::uint64_t offset, std::uint64_t size);

  const std::filesystem::path& path_;
  const ModelSource& source_;
  const LoadOptions& options_;
  std::vector<FileBlock> inline_;                         // offsets from the first byte of the model
  std::map<std::string, std::vector<FileBlock>> slices_;  // by location; size 0 means to the end
};

}  // namespace onnxar
