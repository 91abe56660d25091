// Checking archives and models.
#pragma once

#include <filesystem>
#include <vector>

#include "onnxar/error.h"
#include "onnxar/options.h"
#include "onnxar/visibility.h"

namespace ONNXAR_API onnxar {

struct CheckOptions {
  bool data = false;    ///< also compare the CRC-32 of every entry, and checksums that links have: reads all bytes
  bool strict = false;  ///< warnings and superseded tails of edits become errors
  LoadOptions load;     ///< where external data lies, limits, how many threads compare CRCs
};

/// All that is wrong or worth a word about the archive or `.onnx` file at `path`.
///
/// The first fault of the directory ends the container's pass, as nothing after it can be trusted; local headers, CRCs
/// and the model's tensors are all looked at. What ONNX's own checker refuses of a tensor is an error here, too, or a
/// warning. A plain model whose name ends in .onnxar is a warning (archive.plain_model). Errors (thrown): archive.busy,
/// io.* (io.changed where faults are found in a file that changes). Cost: O(directory + model), with `data` O(bytes).
[[nodiscard]] std::vector<Finding> check(const std::filesystem::path& path, const CheckOptions& options = {});

/// Whether no finding is an error.
[[nodiscard]] bool passed(const std::vector<Finding>& findings) noexcept;

}  // namespace ONNXAR_API onnxar
