// Text and paths, and names of devices. This library's text is UTF-8; paths have the system's encoding.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace onnxar::os {

/// Returns the path with this text. POSIX: the same bytes, whatever they are. Windows: UTF-16; bytes that are not UTF-8
/// become U+FFFD. A std::filesystem::path that is made of a std::string directly treats it as text in a different
/// encoding on Windows, so use that only for ASCII.
std::filesystem::path path_of(std::string_view text);
/// Returns the text of a path, the reverse of `path_of`.
std::string text_of(const std::filesystem::path& path);

/// Returns the text of a path with `/` between the parts, as in names of models and archives.
std::string slashed_text_of(const std::filesystem::path& path);

/// True if Windows treats a file of this name, in any folder, as a device: CON, PRN, AUX, NUL, COM0 to COM9, LPT0 to
/// LPT9, also with a superscript digit, CONIN$ and CONOUT$; in any case, with any extension, and with spaces after the
/// device's name. `part` is one part of a path, in UTF-8.
bool is_device_name(std::string_view part) noexcept;

}  // namespace onnxar::os
