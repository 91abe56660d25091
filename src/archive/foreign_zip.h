// Finds the model in a foreign zip, and recognises the exporter that wrote it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "archive/zip_expansion.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "zip/foreign_directory.h"

namespace onnxar {

enum class Dialect : std::uint8_t {
  archive,  ///< `__MODEL_PROTO` and the entries that it names: an archive that breaks rules of form only
  pytorch,  ///< `__MODEL_PROTO` with stand-ins for tensors: torch.onnx's ZIP_ARCHIVE of 2018
  tf2onnx,  ///< `__MODEL_PROTO.onnx`: tf2onnx's --large_model
  files,    ///< one `*.onnx` and its data files
};

/// Describes the dialect for messages: `a PyTorch export (ZIP_ARCHIVE)`.
[[nodiscard]] std::string_view to_string(Dialect dialect) noexcept;

/// Whether a model may have a tensor with a stand-in. A room above implements it, because this one does not know
/// protobuf (`may_have_stand_ins` in source/stand_ins.h). Errors: those of reading `model`.
using HasStandIns = std::function<bool(const ByteSource& model)>;

/// The model of a zip file.
struct ForeignModel {
  std::size_t index = 0;  ///< the model's entry
  Dialect dialect = Dialect::archive;
  std::string folder;  ///< with a slash: the top-level folder, if it contains all files; empty otherwise
};

/// Whether an archive made from the zip omits the entry, because it is a folder or metadata of macOS' Finder.
[[nodiscard]] bool is_left_out(const zip::ForeignEntry& entry) noexcept;

/// Finds the model of the zip file: `__MODEL_PROTO`, `__MODEL_PROTO.onnx` or the only `*.onnx`, in the root or in the
/// top-level folder that contains all files. Asks `has_stand_ins` about a model named `__MODEL_PROTO`. Counts the model
/// in `expansion`. Errors: archive.model.missing (none, or several); zip.data.inflate, zip.limit.expansion.
[[nodiscard]] ForeignModel find_foreign_model(Bytes file, const zip::ForeignDirectory& directory,
                                              ZipExpansion& expansion, const HasStandIns& has_stand_ins);

}  // namespace onnxar
