// Checks which names entries may have.
#include "zip/names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/text.h"
#include "base/utf8.h"
#include "os/names.h"
#include "zip/format.h"

namespace onnxar::zip {
namespace {

constexpr bool is_portable(char c) noexcept {
  return c >= 0x20 && c <= 0x7e && std::string_view("\\:*?\"<>|;").find(c) == std::string_view::npos;
}

/// Indexed by the character's byte: portable, and no separator of parts.
constexpr std::array<bool, 256> plain_characters = [] {
  std::array<bool, 256> table{};
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = is_portable(static_cast<char>(i)) && i != '/';
  return table;
}();

/// Reads every character: names are short and rarely foreign, so that leaving early would cost more than it saves.
bool has_only_plain_characters(std::string_view name) noexcept {
  bool plain = true;
#ifdef __GNUC__
#pragma GCC unroll 8
#endif
  for (const char c : name) plain &= plain_characters[static_cast<unsigned char>(c)];
  return plain;
}

/// REQUIRES: well-formed UTF-8, so that a byte within a character cannot be taken for the first byte of one.
bool has_control_character(std::string_view name) noexcept {
  for (; !name.empty(); name.remove_prefix(1)) {
    if (base::begins_with_control(name)) return true;
  }
  return false;
}

/// The rules of a part, in the order in which faults are reported.
enum class PartRule : std::uint8_t { no_step, length, end, device, none };

/// Returns the first rule that the part breaks. Some file system would change or refuse the part.
PartRule broken_rule(std::string_view part) noexcept {
  if (part.empty() || part == "." || part == "..") return PartRule::no_step;
  if (part.size() > name_part_maximum) return PartRule::length;
  if (part.back() == '.' || part.back() == ' ') return PartRule::end;
  return os::is_device_name(part) ? PartRule::device : PartRule::none;
}

/// Returns the first rule that any part of the name breaks.
PartRule broken_rule_of_parts(std::string_view name) noexcept {
  PartRule first = PartRule::none;
  while (true) {
    const std::size_t slash = name.find('/');
    first = std::min(first, broken_rule(name.substr(0, slash)));
    if (slash == std::string_view::npos) return first;
    name.remove_prefix(slash + 1);
  }
}

std::optional<NameFault> length_fault(std::string_view name) noexcept {
  if (name.empty()) return NameFault{Code::zip_name_empty, "the entry has no name"};  // N1
  if (name.size() > name_maximum) {                                                   // N2
    static_assert(name_maximum == 1024);
    return NameFault{Code::zip_name_too_long, "the name is longer than 1024 bytes"};
  }
  return std::nullopt;
}

std::optional<NameFault> path_fault(std::string_view name, PartRule of_parts) noexcept {
  if (name.front() == '/') return NameFault{Code::zip_name_absolute, "the name is an absolute path"};  // N6
  if (name.back() == '/') {                                                                            // N8
    return NameFault{Code::zip_name_directory, "the entry is a folder; only files are allowed"};
  }
  if (of_parts != PartRule::no_step) return std::nullopt;
  return NameFault{Code::zip_name_part, "the name has a part that is empty, \".\" or \"..\""};  // N9
}

/// Drops the version at the end (`;1`), as unzip does (F22).
std::string_view without_version(std::string_view name) noexcept {
  const std::size_t semicolon = name.rfind(';');
  if (semicolon == std::string_view::npos) return name;
  return std::ranges::all_of(name.substr(semicolon + 1), base::is_digit) ? name.substr(0, semicolon) : name;
}

/// Drops drives at the front (`c:`), as bsdtar does (F22).
std::string_view without_drives(std::string_view name) noexcept {
  while (name.size() >= 2 && name[1] == ':' && base::is_letter(name[0])) {
    name.remove_prefix(2);
    while (name.starts_with('/')) name.remove_prefix(1);
  }
  return name;
}

}  // namespace

bool is_plain_name(std::string_view name) noexcept {
  return has_only_plain_characters(name) && broken_rule(name) == PartRule::none;
}

std::optional<NameFault> name_fault(std::string_view name) noexcept {
  if (const auto fault = length_fault(name)) return fault;
  const auto is_foreign = [](char c) { return c != '/' && !plain_characters[static_cast<unsigned char>(c)]; };
  if (std::ranges::any_of(name, is_foreign)) {
    return NameFault{Code::zip_name_character,  // N14
                     "the name contains a character that readers treat differently: printable ASCII is allowed, except "
                     "\\ : * ? \" < > | and ;"};
  }
  const PartRule broken = broken_rule_of_parts(name);
  if (broken == PartRule::none) return std::nullopt;
  if (const auto fault = path_fault(name, broken)) return fault;
  static_assert(name_part_maximum == 255);
  if (broken == PartRule::length)
    return NameFault{Code::zip_name_part_too_long, "the name has a part of more than 255 bytes"};  // N15
  if (broken == PartRule::end) {
    return NameFault{Code::zip_name_part_end,  // N16
                     "the name has a part that ends in a dot or a space, which some readers leave out"};
  }
  return NameFault{Code::zip_name_device, "the name has a part that is a device name on Windows"};  // N17
}

void check_name(std::string_view name, const Place& place) {
  if (const auto fault = name_fault(name)) throw Error(fault->code, std::string(fault->message), place);
}

std::optional<NameFault> unreadable_name_fault(std::string_view name) noexcept {
  if (const auto fault = length_fault(name)) return fault;
  if (!base::is_utf8(name)) return NameFault{Code::zip_name_character, "the name is not UTF-8"};  // F24
  if (has_control_character(name)) {                                                              // F24
    return NameFault{Code::zip_name_character, "the name contains a control character"};
  }
  if (name.find('\\') != std::string_view::npos) {  // F24
    return NameFault{Code::zip_name_character, "the name contains a backslash; slashes separate folders"};
  }
  return path_fault(name, broken_rule_of_parts(name));
}

std::string name_without_omissions(std::string_view name) {
  name = without_drives(without_version(name));
  std::string kept;
  while (true) {
    const std::size_t slash = name.find('/');
    std::string_view part = name.substr(0, slash);
    while (part.ends_with('.') || part.ends_with(' ')) part.remove_suffix(1);
    kept += part;
    if (slash == std::string_view::npos) return kept;
    kept += '/';
    name.remove_prefix(slash + 1);
  }
}

bool equal_folded(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, {}, base::folded, base::folded);
}

}  // namespace onnxar::zip
