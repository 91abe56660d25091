// The data files beside added graphs, whose names entries of the archive may have too.
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

/// A data file beside the file of an added graph, with the name of a location in the graph: ONNX's own readers take it.
struct FileBeside {
  std::string graph, location;
  std::filesystem::path path;
  std::shared_ptr<const ByteSource> source;
};

/// Finds these files. A graph that cannot be read to its end has none; the archive's writer refuses it. Nor has one
/// that is not given as a file. Errors: io.*; onnx.external_data.outside.
std::vector<FileBeside> files_beside(const AddedFile& graph, Bytes bytes);

/// Refuses a link of an added graph to an entry whose bytes differ from the file. Errors: usage.argument; those of
/// reading both.
void expect_one_meaning(const FileBeside& file, const ByteSource& entry);

/// Does so for all graphs in `files`, which an edit adds to `archive`; `entries` are all that it adds.
void expect_one_meaning(const std::vector<AddedFile>& files, const std::vector<SideFile>& entries,
                        const Archive& archive);

}  // namespace onnxar
