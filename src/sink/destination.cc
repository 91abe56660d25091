#include "sink/destination.h"

#include "base/paths.h"
#include "os/names.h"

namespace onnxar {

namespace fs = std::filesystem;

Destination Destination::of(const fs::path& output, const fs::path& input, Format format) {
  if (output.empty() || output.has_filename() || format == Format::archive) return {output, {}};
  // `folder/` has the parent path `folder`; only the root is its own parent.
  const std::string stem = input.stem().empty() ? "model" : os::text_of(input.stem());
  return {output == output.root_path() ? output : output.parent_path(),
          stem + (format == Format::textproto ? ".textproto" : ".onnx")};
}

fs::path Destination::folder_above() const { return base::folder_of(path); }

}  // namespace onnxar
