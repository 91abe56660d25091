#include "os/names.h"

#include <algorithm>

#include "os/windows/native.h"

namespace onnxar::os {

std::filesystem::path path_of(std::string_view text) {
  const auto length = static_cast<int>(text.size());
  std::wstring wide(text.size(), L'\0');  // UTF-16 has no more units than UTF-8
  const int units = ::MultiByteToWideChar(CP_UTF8, 0, text.data(), length, wide.data(), length);
  wide.resize(static_cast<std::size_t>(units));
  return wide;
}

std::string text_of(const std::filesystem::path& path) {
  const std::wstring& wide = path.native();
  const auto units = static_cast<int>(wide.size());
  std::string text(3 * wide.size(), '\0');  // UTF-8 has at most three bytes for each unit of UTF-16
  const int length = ::WideCharToMultiByte(CP_UTF8, 0, wide.data(), units, text.data(), 3 * units, nullptr, nullptr);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

std::string slashed_text_of(const std::filesystem::path& path) {
  std::string text = text_of(path);
  std::ranges::replace(text, '\\', '/');
  return text;
}

}  // namespace onnxar::os
