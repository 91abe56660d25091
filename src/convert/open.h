// Opens models as sources. The content of a file determines its kind, never its name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "archive/opened_input.h"
#include "convert/archive_source.h"
#include "convert/file_source.h"
#include "convert/model_source.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/options.h"

namespace onnxar {

/// Opens an archive, or a `.onnx` file in wire or text format. Throws io.*, zip.* and archive.* if the file begins as a
/// zip, onnx.model.invalid if it is empty, onnx.text.syntax, and usage.no_text_parser.
std::unique_ptr<ModelSource> open_source(const std::filesystem::path& path, const LoadOptions& options);

/// Does what `open_source` does. If `options.foreign_zips` is set, also opens zips and folders of other programs. A zip
/// counts as foreign if its first fault as an archive is one that zips of other programs have. Throws what
/// `open_source` throws, and for a foreign zip what ForeignZipSource throws.
std::unique_ptr<ModelSource> open_any_source(const std::filesystem::path& path, const LoadOptions& options);

/// Opens the archive or the `.onnx` file in an opened input. Throws what `open_source` throws.
std::unique_ptr<ModelSource> source_of(const OpenedInput& input, const LoadOptions& options);

/// Opens the bytes of an archive or of a `.onnx` file. `owner` keeps them alive; if it is null, the caller does.
/// External data of a `.onnx` file lies in `options.external_data_dir`. Throws what `open_source` throws.
std::unique_ptr<ModelSource> source_of(Bytes bytes, std::shared_ptr<const void> owner, const LoadOptions& options);
/// Makes the source of an open archive, or of its graph LoadOptions::graph. Throws what Archive::model throws, and
/// zip.data.crc for the model.
std::unique_ptr<ArchiveSource> source_of(Archive archive, const LoadOptions& options);

/// States if links of a `.onnx` file may lead to files.
enum class FileLinks : std::uint8_t { allowed, refused };
/// Makes the source of an opened `.onnx` file. Throws onnx.model.invalid if it is empty, and
/// onnx.text.syntax.
std::unique_ptr<FileSource> file_source_of(const OpenedInput& input, const LoadOptions& options,
                                           FileLinks links = FileLinks::allowed);
/// Makes the source of the bytes of a `.onnx` file. Refuses links to files without LoadOptions::external_data_dir.
std::unique_ptr<FileSource> file_source_of(Bytes model, std::shared_ptr<const void> owner, const LoadOptions& options,
                                           FileLinks links = FileLinks::allowed);

}  // namespace onnxar
