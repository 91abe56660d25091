// A folder of many stored models: names of files, and what killed processes left.
#pragma once

#include <string_view>

#include "convert/own_folder.h"

namespace onnxar {

/// Follow the SHA-256 of what a stored model depends on.
inline constexpr std::string_view stored_suffix = ".onnxar", refused_suffix = ".refused";

/// Removes what processes that were killed were writing.
void remove_abandoned(const OwnFolder& folder);

}  // namespace onnxar
