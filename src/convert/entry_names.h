// Refuses names of files that entries of an archive cannot have, with names that they could have.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace onnxar {

/// Refuses names that break a rule of the format, or clash, all in one error with a proposal for each. The first `kept`
/// are those of an open archive, which are known to be good. Errors: the code of the first fault: zip.name.*,
/// archive.name.reserved, usage.argument (a key of a tensor). Cost: O(names).
void check_entry_names(std::span<const std::string_view> names, std::size_t kept);

}  // namespace onnxar
