// Opens models as sources. The content of a file decides its kind, and never its name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "archive/graphs.h"
#include "base/mapped_file.h"
#include "convert/archive_source.h"
#include "convert/external_files.h"
#include "convert/file_source.h"
#include "convert/model_source.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/options.h"

namespace onnxar {

/// Opens an archive, or a `.onnx` file in wire or text format. Errors: io.*; zip.* and archive.* if the file begins as
/// a zip; onnx.model.invalid (empty); onnx.text.syntax; usage.no_text_parser.
std::unique_ptr<ModelSource> open_source(const std::filesystem::path& path, const LoadOptions& options);

/// As `open_source`. If `options.foreign_zips` is set, also opens zips and folders of other programs. A zip counts as
/// foreign if its first fault as an archive is one that zips of other programs have. Errors: as `open_source`; of a
/// foreign zip as ForeignZipSource.
std::unique_ptr<ModelSource> open_any_source(const std::filesystem::path& path, const LoadOptions& options);

/// Opens the bytes of an archive or of a `.onnx` file. `owner` keeps them alive; if it is null, the caller does.
/// External data of a `.onnx` file lies in `options.external_data_dir`. Errors: as `open_source`.
std::unique_ptr<ModelSource> source_of(Bytes bytes, std::shared_ptr<const void> owner, const LoadOptions& options);
/// Takes an open archive, or its graph LoadOptions::graph. Errors: as Archive::model; zip.data.crc (of the model).
std::unique_ptr<ArchiveSource> source_of(Archive archive, const LoadOptions& options);

/// Whether links of a `.onnx` file may lead to files.
enum class FileLinks : std::uint8_t { allowed, refused };
/// Takes the mapped `.onnx` file at `path`. Errors: onnx.model.invalid (empty), onnx.text.syntax.
std::unique_ptr<FileSource> source_of(const ExternalFiles::Mapping& file, const std::filesystem::path& path,
                                      const LoadOptions& options, FileLinks links = FileLinks::allowed);
/// Takes the bytes of a `.onnx` file. Without LoadOptions::external_data_dir, links to files are refused.
std::unique_ptr<FileSource> file_source_of(Bytes model, std::shared_ptr<const void> owner, const LoadOptions& options,
                                           FileLinks links = FileLinks::allowed);

/// Maps a file.
ExternalFiles::Mapping map_file(const std::filesystem::path& path);

}  // namespace onnxar
