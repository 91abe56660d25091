// The companions of a model in its source: entries that are not its model, graphs or weights.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar {

/// An entry that no tensor names, and whose name is not a key: `tokenizer.json`.
struct SideFile {
  std::string name;
  std::shared_ptr<const ByteSource> source;
};

/// Side files, and the entries that are not taken over.
struct SourceCompanions {
  std::vector<SideFile> side_files;
  std::vector<std::string> left_out;  ///< names of other entries that no tensor names, such as old weights
  std::uint64_t left_out_bytes = 0;
  std::vector<Finding> remarks;
};

}  // namespace onnxar
