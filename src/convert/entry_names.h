// Refuses names of files that entries of an archive cannot have, and proposes valid names.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace onnxar {

/// Refuses names that break a rule of the format or clash. Throws one error with a proposal for each name. Its code is
/// that of the first fault: zip.name.*, archive.name.reserved, or usage.argument for a key of a tensor. The first
/// `kept` names are those of an open archive, which are valid. Cost: O(names).
void check_entry_names(std::span<const std::string_view> names, std::size_t kept);

}  // namespace onnxar
