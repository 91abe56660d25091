// Recognises foreign zips, finds the model in one, and recognises the exporter that wrote it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "archive/zip_expansion.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "zip/foreign_directory.h"

namespace onnxar {

/// True if a file with this fault may be a foreign zip: the fault concerns its form as a zip, or the position of the
/// model. zip::ForeignDirectory then decides if the file is read.
bool may_be_foreign_zip(Code code) noexcept;

/// Names the kinds of zip files that hold a model.
enum class Dialect : std::uint8_t {
  archive,  ///< `__MODEL_PROTO` and the entries that it names: an archive that breaks rules of form only
  pytorch,  ///< `__MODEL_PROTO` with stand-ins for tensors: torch.onnx's ZIP_ARCHIVE of 2018
  tf2onnx,  ///< `__MODEL_PROTO.onnx`: tf2onnx's --large_model
  files,    ///< one `*.onnx` and its data files
};

/// Returns the remark that the input is not an archive and what it was read as: `a PyTorch export (ZIP_ARCHIVE)`.
[[nodiscard]] std::string read_as(Dialect dialect);

/// The text that PyTorch's exporter wrote into a tensor's `raw_data` if the bytes are in the entry named like the
/// tensor.
inline constexpr std::string_view stand_in = "__EXTERNAL";

/// True if the model contains `stand_in` as a field raw_data. Does not parse the messages around the field, so a model
/// with the same bytes elsewhere also matches; then `link_stand_ins` (convert) finds no tensor to link. Throws what
/// reading `model` throws. Cost: O(bytes), in constant memory.
bool may_have_stand_ins(const ByteSource& model);

/// True if the source's bytes contain this text. Throws what reading the source throws. Cost: O(bytes), in constant
/// memory.
bool has_text(const ByteSource& source, std::string_view text);

/// Describes the model of a zip file.
struct ForeignModel {
  std::size_t index = 0;  ///< the model's entry
  Dialect dialect = Dialect::archive;
  std::string folder;  ///< with a slash: the top-level folder, if it contains all files; empty otherwise
};

/// True if an archive made from the zip omits the entry, because it is a folder or metadata of macOS' Finder.
[[nodiscard]] bool is_left_out(const zip::ForeignEntry& entry) noexcept;

/// Finds the model of the zip file: `__MODEL_PROTO`, `__MODEL_PROTO.onnx` or the only `*.onnx`, in the root or in the
/// top-level folder that contains all files. Counts the model in `expansion`. Throws archive.model.missing if there is
/// no model or if there are several; zip.data.inflate; zip.limit.expansion.
[[nodiscard]] ForeignModel find_foreign_model(Bytes file, const zip::ForeignDirectory& directory,
                                              ZipExpansion& expansion);

}  // namespace onnxar
