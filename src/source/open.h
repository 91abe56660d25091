// Opening a model from any kind of source, which is told from the content.
#pragma once

#include <filesystem>
#include <memory>

#include "base/mapped_file.h"
#include "source/resolver.h"
#include "source/target_resolver.h"

namespace onnxar {

/// An archive, or a `.onnx` file on the wire or as text. Errors: io.*; zip.* and archive.* if the file begins as a
/// zip; onnx.model.invalid (empty); onnx.text.syntax; usage.no_text_parser.
std::unique_ptr<Resolver> open_resolver(const std::filesystem::path& path, const LoadOptions& options);

/// What `open_resolver` reads and, where `options.foreign_zips` allows it, zips and folders of other programs. A zip is
/// taken for one if its first fault as an archive is one that they have. Errors: as `open_resolver`; of such a zip
/// those of ForeignZipResolver.
std::unique_ptr<Resolver> open_any_resolver(const std::filesystem::path& path, const LoadOptions& options);

/// The bytes of either, which `owner` keeps alive; without one the caller does. External data of `.onnx` bytes lies in
/// `options.external_data_dir`. Errors: as `open_resolver`.
std::unique_ptr<Resolver> resolver_of(Bytes bytes, std::shared_ptr<const void> owner, const LoadOptions& options);
/// An archive that is open already. Errors: as Archive::model; zip.data.crc (of the model).
std::unique_ptr<Resolver> resolver_of(Archive archive, const LoadOptions& options);
/// The `.onnx` file at `path`, mapped already. Errors: onnx.model.invalid (empty), onnx.text.syntax.
std::unique_ptr<Resolver> resolver_of(const std::shared_ptr<const base::MappedFile>& file,
                                      const std::filesystem::path& path, const LoadOptions& options);

/// A model that is going into `target`, which must outlive the resolver: see TargetResolver. One that is an archive
/// itself has its own entries. Errors: as `open_resolver`.
std::unique_ptr<Resolver> open_resolver_for(const Archive& target, const std::filesystem::path& path,
                                            FileLinks file_links, const LoadOptions& options);
/// As `open_resolver_for`, for a serialised ModelProto; its data files are in `options.external_data_dir`.
std::unique_ptr<Resolver> resolver_for(const Archive& target, Bytes model, FileLinks file_links,
                                       const LoadOptions& options);

}  // namespace onnxar
