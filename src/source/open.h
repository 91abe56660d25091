// Opens a model of any kind, and makes the resolver for it. The content decides the kind, and never the file's name.
#pragma once

#include <filesystem>
#include <memory>

#include "base/mapped_file.h"
#include "source/resolver.h"
#include "source/target_resolver.h"

namespace onnxar {

/// Opens an archive, or a `.onnx` file in wire or text format. Errors: io.*; zip.* and archive.* if the file begins as
/// a zip; onnx.model.invalid (empty); onnx.text.syntax; usage.no_text_parser.
std::unique_ptr<Resolver> open_resolver(const std::filesystem::path& path, const LoadOptions& options);

/// As `open_resolver`. If `options.foreign_zips` is set, also opens zips and folders of other programs. A zip counts as
/// foreign if its first fault as an archive is one that zips of other programs have. Errors: as `open_resolver`; of a
/// foreign zip as ForeignZipResolver.
std::unique_ptr<Resolver> open_any_resolver(const std::filesystem::path& path, const LoadOptions& options);

/// Opens the bytes of an archive or of a `.onnx` file. `owner` keeps them alive; if it is null, the caller does.
/// External data of a `.onnx` file lies in `options.external_data_dir`. Errors: as `open_resolver`.
std::unique_ptr<Resolver> resolver_of(Bytes bytes, std::shared_ptr<const void> owner, const LoadOptions& options);
/// Takes an open archive. Errors: as Archive::model; zip.data.crc (of the model).
std::unique_ptr<Resolver> resolver_of(Archive archive, const LoadOptions& options);
/// Takes the mapped `.onnx` file at `path`. Errors: onnx.model.invalid (empty), onnx.text.syntax.
std::unique_ptr<Resolver> resolver_of(const std::shared_ptr<const base::MappedFile>& file,
                                      const std::filesystem::path& path, const LoadOptions& options);

/// Opens a model that goes into `target`, which must outlive the resolver; see TargetResolver. Links of a model that is
/// an archive lead to its own entries. Errors: as `open_resolver`.
std::unique_ptr<Resolver> open_resolver_for(const Archive& target, const std::filesystem::path& path,
                                            FileLinks file_links, const LoadOptions& options);
/// As `open_resolver_for`, for a serialised ModelProto; its data files are in `options.external_data_dir`.
std::unique_ptr<Resolver> resolver_for(const Archive& target, Bytes model, FileLinks file_links,
                                       const LoadOptions& options);

}  // namespace onnxar
