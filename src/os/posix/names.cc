#include "os/names.h"

namespace onnxar::os {

std::filesystem::path path_of(std::string_view text) { return text; }

std::string text_of(const std::filesystem::path& path) { return path.native(); }

std::string slashed_text_of(const std::filesystem::path& path) { return path.native(); }

}  // namespace onnxar::os
