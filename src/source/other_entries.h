// What lies in a source beside the model, its graphs and its weights.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar {

/// An archive entry that no tensor names and that is not a key: `tokenizer.json`.
struct SideFile {
  std::string name;
  std::shared_ptr<const ByteSource> source;
};

struct OtherEntries {
  std::vector<SideFile> side_files;
  std::vector<std::string> left_out;  ///< entries that no tensor names and that are not side files: old weights
  std::uint64_t left_out_bytes = 0;
  std::vector<Finding> remarks;
};

}  // namespace onnxar
