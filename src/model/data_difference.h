// Compares the data of two tensors, element by element.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "onnxar/bytes.h"
#include "onnxar/model/model.h"
#include "onnxar/options.h"
#include "onnxar/tensor.h"

namespace onnxar {

/// The exact value of each bit pattern of a floating point type of at most 16 bits, indexed by the pattern. Empty for
/// every other type.
std::vector<float> values_of_narrow_float(DataType type);

// Compares the side files of two archives, and which graphs they have.

/// Returns the differences, sorted by name. `changed_graphs` are the further graphs of both that differ: their bytes do
/// not tell, as they may name other data. Empty unless both files are archives.
/// Errors: as Archive::open; zip.local.*, zip.padding.*; wire.*. Cost: O(models) + O(bytes of side files).
std::vector<FileChange> compare_side_files(const std::filesystem::path& before, const std::filesystem::path& after,
                                           const LoadOptions& load, const std::set<std::string>& changed_graphs);

/// Compares the raw bytes of `elements` elements of a type. For an unknown type, each byte is an element. Padding bits
/// of the last byte are ignored. Returns an empty optional if the data is equal. REQUIRES: both have the same,
/// sufficient number of bytes.
std::optional<DataDifference> compare_data(Bytes before, Bytes after, DataType type, std::uint64_t elements);

}  // namespace onnxar
