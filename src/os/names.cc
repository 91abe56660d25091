// Converts text to paths and back, and knows the names of devices of Windows.
#include "os/names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#ifdef _WIN32
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#endif

namespace onnxar::os {
namespace {

constexpr char folded(char letter) noexcept {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter;
}

bool equals_folded(std::string_view name, std::string_view small) noexcept {
  return std::ranges::equal(name, small, {}, folded);
}

/// Returns the first three characters as a number in which capitals equal small letters. Some other characters become
/// equal, too. REQUIRES: there are three.
constexpr std::uint32_t head_of(std::string_view text) noexcept {
  const auto byte = [text](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(text[i])}; };
  return byte(0) | byte(1) << 8U | byte(2) << 16U | 0x202020U;
}

/// Returns the part without what Windows ignores here, extensions and trailing spaces: `nul.txt` and `NUL .bin` are the
/// device, too.
std::string_view stem_of(std::string_view part) noexcept {
  std::string_view stem = part.substr(0, part.find('.'));
  while (stem.ends_with(' ')) stem.remove_suffix(1);
  return stem;
}

bool is_device_stem(std::string_view stem) noexcept {
  constexpr std::array<std::string_view, 6> devices = {"con", "prn", "aux", "nul", "conin$", "conout$"};
  return std::ranges::any_of(devices, [stem](std::string_view device) { return equals_folded(stem, device); });
}

/// True for `com` and `lpt` with a digit, which may be a superscript.
bool is_port_stem(std::string_view stem) noexcept {
  constexpr std::array<std::string_view, 3> superscripts = {"\xc2\xb9", "\xc2\xb2", "\xc2\xb3"};
  const std::string_view port = stem.substr(0, 3), number = stem.substr(port.size());
  const bool is_digit = number.size() == 1 && number[0] >= '0' && number[0] <= '9';
  return (is_digit || std::ranges::find(superscripts, number) != superscripts.end()) &&
         (equals_folded(port, "com") || equals_folded(port, "lpt"));
}

}  // namespace

bool is_device_name(std::string_view part) noexcept {
  if (part.size() < 3) return false;
  switch (head_of(part)) {  // nearly all names end here: archives have hundreds of thousands of names
    case head_of("con"):
    case head_of("prn"):
    case head_of("aux"):
    case head_of("nul"): return is_device_stem(stem_of(part));
    case head_of("com"):
    case head_of("lpt"): return is_port_stem(stem_of(part));
    default: return false;
  }
}

#ifdef _WIN32

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

#else

std::filesystem::path path_of(std::string_view text) { return text; }

std::string text_of(const std::filesystem::path& path) { return path.native(); }

std::string slashed_text_of(const std::filesystem::path& path) { return path.native(); }

#endif

}  // namespace onnxar::os
