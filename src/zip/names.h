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

/// The first rule that `name` breaks on its own: UTF-8, at most 1024 bytes; not empty; no control character,
/// backslash, absolute path, drive letter, trailing slash, or part that is empty, "." or "..". No allocation.
std::optional<NameFault> name_fault(std::string_view name) noexcept;

/// ASCII lower case of one character: the folding under which names must differ.
constexpr char folded(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
std::string folded_copy(std::string_view name);
bool equal_folded(std::string_view a, std::string_view b) noexcept;

}  // namespace onnxar::zip
