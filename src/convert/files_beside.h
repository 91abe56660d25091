// Finds data files beside added graphs whose names are also names of entries of the archive.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "convert/model_source.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/options.h"

namespace onnxar {

/// Describes a data file beside the file of an added graph. Its name is a location in the graph, so ONNX's own readers
/// read it.
struct FileBeside {
  std::string graph, location;
  std::filesystem::path path;
  std::shared_ptr<const ByteSource> source;
};

/// Finds these files. Returns an empty list for a graph that cannot be read to its end, which the archive's writer
/// refuses, and for a graph that is not given as a file. Throws io.* and onnx.external_data.outside.
std::vector<FileBeside> files_beside(const AddedFile& graph, Bytes bytes);

/// Throws usage.argument if an added graph links to an entry whose bytes differ from the file. Throws usage.argument,
/// and what reading both throws.
void expect_one_meaning(const FileBeside& file, const ByteSource& entry);

/// Does the same for all graphs in `files`, which an edit adds to `archive`. `entries` must be all entries that it
/// adds.
void expect_one_meaning(const std::vector<AddedFile>& files, const std::vector<SideFile>& entries,
                        const Archive& archive);

}  // namespace onnxar
