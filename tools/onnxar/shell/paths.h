// Text and paths: arguments and output are UTF-8, paths have the system's encoding.
#pragma once

#include <filesystem>
#include <string>

namespace onnxar::tool {

/// The path with this text, which on Windows must be UTF-8. Elsewhere paths are bytes.
inline std::filesystem::path path_of(const std::string& text) {
  return std::u8string(text.begin(), text.end());
}

/// The reverse of `path_of`.
inline std::string utf8_of(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

}  // namespace onnxar::tool
