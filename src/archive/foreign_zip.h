// Finds the model in a foreign zip, and the kind of program that wrote it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "archive/zip_expansion.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "zip/foreign_directory.h"

namespace onnxar {

enum class Dialect : std::uint8_t {
  archive,  ///< `__MODEL_PROTO` and the entries that it names: an archive, except for the rules of form
  pytorch,  ///< `__MODEL_PROTO` with stand-ins for tensors: torch.onnx's ZIP_ARCHIVE of 2018
  tf2onnx,  ///< `__MODEL_PROTO.onnx`: tf2onnx's --large_model
  files,    ///< one `*.onnx` and its data files
};

/// `a PyTorch export (ZIP_ARCHIVE)`
[[nodiscard]] std::string_view to_string(Dialect dialect) noexcept;

/// PyTorch's exporter wrote this into `raw_data` of a tensor whose bytes are in the entry of the tensor's name.
inline constexpr std::string_view stand_in = "__EXTERNAL";

/// The model of a zip file.
struct ForeignModel {
  std::size_t index = 0;  ///< of its entry
  Dialect dialect = Dialect::archive;
  std::string folder;  ///< the only top-level folder, if all files are in it, with a slash; empty otherwise
};

/// Whether an archive made of the zip leaves the entry out: a folder, or metadata of macOS' Finder.
[[nodiscard]] bool is_left_out(const zip::ForeignEntry& entry) noexcept;

/// The model of the zip file: `__MODEL_PROTO`, `__MODEL_PROTO.onnx` or the only `*.onnx`. It is in the root, or in the
/// only top-level folder if all files are in it. A model named `__MODEL_PROTO` is searched for stand-ins. The model is
/// counted in `expansion`. Errors: archive.model.missing (none, or more than one); zip.data.inflate,
/// zip.limit.expansion.
[[nodiscard]] ForeignModel find_foreign_model(Bytes file, const zip::ForeignDirectory& directory,
                                              ZipExpansion& expansion);

}  // namespace onnxar
