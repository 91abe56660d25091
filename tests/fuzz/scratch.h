// The files of a target. They are read and written through os/, so that they are in memory where os/ is (memory_os).
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "onnxar/bytes.h"

namespace onnxar::fuzz {

/// An empty folder, which lives as long as the process.
const std::filesystem::path& scratch();

/// Makes a folder in it, with the folders above, unless it is there. Returns its path.
std::filesystem::path scratch_folder(std::string_view name);
/// Writes or replaces a file in it, with the folders above. Returns its path.
std::filesystem::path put(std::string_view name, Bytes bytes);
/// The bytes of a file in it.
std::vector<std::byte> get(std::string_view name);

/// Removes the files of the last input where they are in memory. Elsewhere they stay until the next input replaces
/// them.
void forget_files();

}  // namespace onnxar::fuzz
