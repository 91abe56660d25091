// Checks the headers of an archive and its superseded tails, beyond what opening it proves.
#pragma once

#include <cstdint>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/error.h"
#include "zip/local_header.h"

namespace onnxar {

/// The options for checking earlier states. An edit may have raised the limits, so a state beyond the default limits
/// can be complete too. An index of names can number 2^32 - 1 entries. Memory stays in proportion to the file (E10).
inline constexpr OpenOptions without_limits{.max_entries = ~std::uint32_t{0}, .max_directory_size = ~std::uint64_t{0}};

/// Returns the ends of the superseded tails between the entries of an archive. Throws what Archive::locate throws.
std::vector<std::uint64_t> tails_of(const Archive& archive);

/// Checks what `open` does not: every local header, and the states before each edit (T2). Adds remarks (R1, R10). Does
/// not compare CRCs. The states share `zeros` if it is not null.
std::vector<Finding> check_container(const Archive& archive, zip::KnownZeros* zeros = nullptr);

}  // namespace onnxar
