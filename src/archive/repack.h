// Making an archive of a zip file, by one who can read models.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/keyed_hash.h"
#include "onnxar/bytes.h"
#include "onnxar/repack.h"

namespace onnxar {

/// The names of entries that links of a model lead to. Errors: wire.*, onnx.*.
using LinkedNames = std::function<base::KeyedSet<std::string>(Bytes model)>;

/// `repack`; `linked_names` is asked only where entries get other names or would have to.
RepackReport repack_zip(const std::filesystem::path& input, const std::filesystem::path& output,
                        const RepackOptions& options, const LinkedNames& linked_names);

}  // namespace onnxar
