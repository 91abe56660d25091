#include "convert/destination.h"

namespace onnxar {

namespace fs = std::filesystem;

Destination Destination::of(const fs::path& output, const fs::path& input, Format format) {
  std::error_code ignored;
  const bool is_folder = !output.empty() && (!output.has_filename() || fs::is_directory(output, ignored));
  if (!is_folder || format == Format::archive) return {output, {}};
  const std::string stem = input.stem().empty() ? "model" : input.stem().string();
  const fs::path folder = output.has_filename() || output == output.root_path() ? output : output.parent_path();
  return {folder, stem + (format == Format::textproto ? ".textproto" : ".onnx")};
}

fs::path Destination::folder_above() const { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

}  // namespace onnxar
