// Archives that are named by a path or an address.
#pragma once

#include <filesystem>

#include "onnxar/archive.h"
#include "onnxar/random_access.h"

namespace onnxar::tool {

/// Opens addresses by libcurl. In a tool without onnxar::remote, refuses them.
RangesOpener address_opener();
/// Opens the archive in a file or at an address.
Archive open_archive(const std::filesystem::path& path);

}  // namespace onnxar::tool
