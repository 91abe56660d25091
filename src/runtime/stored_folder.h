// Handles a folder of many stored models: file names, and files that killed processes left.
#pragma once

#include <string_view>

#include "runtime/own_folder.h"

namespace onnxar {

/// The suffixes of file names, after the SHA-256 of what a stored model depends on.
inline constexpr std::string_view stored_suffix = ".onnxar", refused_suffix = ".refused";

/// Removes the unfinished files of killed processes.
void remove_abandoned(const OwnFolder& folder);

}  // namespace onnxar
