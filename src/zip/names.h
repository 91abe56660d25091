// Which entry names are allowed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "onnxar/error.h"

namespace onnxar::zip {

struct NameFault {
  Code code;
  std::string_view message;
};

/// The first rule that `name` breaks on its own. Names are portable ASCII: every reader and every file system takes
/// them as they are. They have 1 to 1024 characters from 0x20 to 0x7E except \ : * ? " < > | ;. Their parts between
/// slashes are not empty, "." or "..", have at most 255 bytes, end in neither dot nor space, and are not the name of a
/// device of Windows. No allocation.
std::optional<NameFault> name_fault(std::string_view name) noexcept;

/// The first fault for which not even a foreign reader takes `name`, because other readers see another entry or none:
/// it is empty or too long, is not UTF-8, has a control character or backslash in it, is an absolute path, or has a
/// part that is empty, "." or "..". Such a reader makes no files; names that only break other rules can be replaced.
/// No allocation.
std::optional<NameFault> unreadable_name_fault(std::string_view name) noexcept;

/// Whether Windows takes a file of this name, in any folder, for a device: CON, PRN, AUX, NUL, COM0 to COM9, LPT0 to
/// LPT9, CONIN$ and CONOUT$, in any case, also with spaces after it and with any extension.
bool is_device_name(std::string_view part) noexcept;

/// `name` without what some reader leaves out of it: drives in front (`c:`, bsdtar), a version at the end (`;1`,
/// unzip), dots and spaces at the end of a part (Windows). Two names for which it is the same are one to that reader.
/// No two names that are allowed become the same: each stays as it is.
std::string name_without_omissions(std::string_view name);

/// ASCII lower case of one character: the folding under which names must differ.
constexpr char folded(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
std::string folded_copy(std::string_view name);
bool equal_folded(std::string_view a, std::string_view b) noexcept;

}  // namespace onnxar::zip
