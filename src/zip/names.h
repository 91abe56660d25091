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

/// True if `name` has no slash and breaks no rule of `name_fault`, as nearly all names. Costs less than `name_fault`.
bool is_plain_name(std::string_view name) noexcept;
/// Returns the first rule that `name` breaks on its own, in the order of the specification (N1, N2, N14, N6, N8, N9,
/// N15, N16, N17). Allowed names are portable ASCII: every reader and every file system accepts them without a change.
/// They have 1 to 1024 characters from 0x20 to 0x7E except \ : * ? " < > | ;. The parts between slashes are not empty,
/// "." or "..", have at most 255 bytes, do not end in a dot or space, and are not device names of Windows. No
/// allocation.
std::optional<NameFault> name_fault(std::string_view name) noexcept;
/// Checks `name` by the rules of `name_fault`. Throws zip.name.*, at `place`.
void check_name(std::string_view name, const Place& place);

/// Returns the first fault for which `name` is refused even in a foreign zip, because other readers see a different
/// entry or none: the name is empty or too long, is not UTF-8, contains a control character or a backslash, is an
/// absolute path, or has a part that is empty, "." or "..". Names that only break other rules can be replaced. No
/// allocation.
std::optional<NameFault> unreadable_name_fault(std::string_view name) noexcept;

/// Returns `name` without the parts that some readers drop: drives at the front (`c:`, bsdtar), a version at the end
/// (`;1`, unzip), dots and spaces at the end of a part (Windows). Such readers do not distinguish names with the same
/// result. Names that `name_fault` allows do not change.
std::string name_without_omissions(std::string_view name);

/// True if two names are equal after base::folded, under which the names in a zip must differ (N11).
bool equal_folded(std::string_view a, std::string_view b) noexcept;

}  // namespace onnxar::zip
