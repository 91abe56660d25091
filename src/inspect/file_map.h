// What each byte of a model's files is.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "onnxar/model/inspect.h"
#include "source/resolver.h"

namespace onnxar {

class FileMapper {
 public:
  /// `path` is the file that `source` was opened from; both must outlive this.
  FileMapper(const std::filesystem::path& path, const Resolver& source, const LoadOptions& options)
      : path_(path), source_(source), options_(options) {}

  void add(const onnx::TensorSite& site);
  /// The model's file, then its data files by name. Adds up their blocks in `storage`. Errors: as `ls`.
  std::vector<FileMap> finish(StorageSummary& storage) &&;

 private:
  void add_link(const onnx::TensorSite& site);
  FileMap map_of_archive(StorageSummary& storage);
  FileMap map_of_data_file(const std::string& location, std::vector<FileBlock>& slices, StorageSummary& storage) const;
  void append_model(FileMap& map, std::uint64_t offset, std::uint64_t size);

  const std::filesystem::path& path_;
  const Resolver& source_;
  const LoadOptions& options_;
  std::vector<FileBlock> inline_;                         // offsets from the first byte of the model
  std::map<std::string, std::vector<FileBlock>> slices_;  // by location; a size of 0: to the end
};

}  // namespace onnxar
