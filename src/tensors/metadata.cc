#include <string_view>
#include <utility>
#include <vector>

#include "onnx/string_entry.h"
#include "onnxar/listing.h"
#include "tensors/archive_walk.h"

namespace onnxar {

std::vector<std::pair<std::string_view, std::string_view>> metadata(const Archive& archive) {
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  try {
    for (const onnx::MetadataEntry& found : onnx::find_metadata(archive.model(), "")) {
      pairs.emplace_back(found.entry.key, found.entry.value);
    }
  } catch (const Error& error) {
    throw with_place_in(error, archive);
  }
  return pairs;
}

}  // namespace onnxar
