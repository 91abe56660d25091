// The sources of models, and the functions that open them. The content of a file decides its kind, and never its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/entry_source.h"
#include "archive/external_tensor.h"
#include "archive/graphs.h"
#include "base/mapped_file.h"
#include "convert/links.h"
#include "convert/model_source.h"
#include "onnx/external_data.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/options.h"

namespace onnxar {

// Makes payloads of the entries of an archive, and of parts of them.

/// Makes payloads of one archive, which must outlive them. Threads: one at a time; the sources that it makes may be
/// read on any number at once.
class EntryPayloads {
 public:
  explicit EntryPayloads(const LoadOptions& options)
      : verify_(options.verify_data), threads_(options.threads), slices_(options.temporary_dir) {}

  /// The payload of `part`, which lies in `entry`. With LoadOptions::verify_data, reading it compares the CRC-32 of the
  /// entry. Errors: as Archive::bytes.
  [[nodiscard]] Resolved part(const Archive& archive, const ArchiveEntry& entry, Bytes part);
  /// A source of all bytes of `entry`, verified in the same way. Errors: as Archive::bytes.
  [[nodiscard]] std::shared_ptr<const ByteSource> whole(const Archive& archive, const ArchiveEntry& entry) const;

 private:
  /// Bytes that are read by ranges come through a source, and that verifies them.
  [[nodiscard]] bool verifies(const Archive& archive) const;

  bool verify_;
  std::size_t threads_;
  SlicedEntries slices_;
};

/// Finds the part of an entry that a link to the archive's own file names. The archive begins at `at` in that file, and
/// the part must lie in one of the first `count` entries. Errors: onnx.external_data.out_of_range; as Archive::bytes.
/// Cost: O(log entries).
EntryPart part_of_file(const Archive& archive, std::uint64_t at, std::size_t count, const onnx::TensorSite& site,
                       const onnx::ExternalSlice& slice);

/// Links lead to entries of the archive.
class ArchiveSource final : public ModelSource {
 public:
  /// Selects the model, which may be a graph (Archive::graph). Errors: as Archive::model; zip.data.crc of the model,
  /// with LoadOptions::verify_data.
  ArchiveSource(Archive archive, const LoadOptions& options);

  [[nodiscard]] const Archive& archive() const noexcept { return archive_; }
  [[nodiscard]] std::vector<std::string> graphs() const override;
  void select(const std::string& graph) override;
  [[nodiscard]] SourceCompanions companions() override;
  [[nodiscard]] std::uint64_t input_size() const override { return archive_.file().size(); }
  void prove_link(const onnx::TensorSite& site) override;
  /// Replaces an error of the format by io.changed if the file was changed since it was opened.
  [[nodiscard]] Error with_place(const Error& error) const override;

 private:
  Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override;
  [[nodiscard]] onnx::ExternalSlice link_of(const onnx::TensorView& tensor) const override;
  /// Whether the user chose one graph, so that the others are left alone.
  [[nodiscard]] bool is_one_of_several() const;
  [[nodiscard]] GraphBytes graph_of(const ArchiveEntry& entry) const;

  Archive archive_;
  EntryPayloads payloads_;
  EntryUses uses_;
};

/// The archive that has the model of `source`; null if the model is not in an archive.
const Archive* archive_of(const ModelSource& source);

/// Maps each file that a model's tensors name once. Opens only files beneath the model's folder, or beneath the folder
/// that replaces it. Move-only. Not synchronised.
class ExternalFiles {
 public:
  using Mapping = std::shared_ptr<const base::MappedFile>;

  /// `model` is the path of the `.onnx` file, whose folder holds the data. A `data_dir` that is not empty replaces that
  /// folder; `model` may then be empty. Errors: io.* (the folder does not exist).
  ExternalFiles(const std::filesystem::path& model, const std::filesystem::path& data_dir);

  /// Mappings by device and inode.
  using Files = std::map<std::pair<std::uint64_t, std::uint64_t>, Mapping>;
  /// Looks for data in these folders of `root`, in their order, instead of in the model's. Links may lead anywhere in
  /// `root`. A location that two of them have with different bytes is then usage.argument. Takes mappings from `files`,
  /// which other models may use too: data that several models name is then at one address.
  void look_in(const std::filesystem::path& root, std::vector<std::string> folders, std::shared_ptr<Files> files);

  struct Part {
    ByteSpan bytes;                          ///< with a share in the mapping
    const base::FileOrigin* file = nullptr;  ///< of the mapping
    bool is_whole = false;                   ///< whether it is all of the file
  };
  /// The bytes that `slice` names. If it has no length, they are `expected` long, or go to the end of the file.
  /// Errors: onnx.external_data.bad_location, .outside, .missing, .out_of_range, io.*; at `offset` of the model.
  Part resolve(const onnx::ExternalSlice& slice, std::optional<std::uint64_t> expected, std::uint64_t offset);

  /// The whole file that `location` names, which errors call `what`. Errors: as `resolve`, except .out_of_range.
  Mapping map(const std::string& location, std::uint64_t offset, std::string_view what = "data file");
  /// The path of the archive `name` of a link whose marker has this folder (LinkMarker::folder). A folder that the
  /// caller gave for data replaces it.
  [[nodiscard]] std::filesystem::path archive_path(const std::string& name, const std::string& folder) const;
  /// The file of that archive, which may be in any folder: it is used only if it is an archive in the state of the link
  /// (K5). Errors: onnx.external_data.missing; io.*.
  [[nodiscard]] Mapping map_archive(const std::string& name, const std::string& folder, std::uint64_t offset);

  /// The length in bytes of the regular file that `location` names; nothing if it does not exist, or if the model may
  /// not name it. Does not map the file.
  [[nodiscard]] std::optional<std::uint64_t> size_of(const std::string& location) const;

  /// The paths of the files mapped so far, as they were looked for: without `.`, and before links are followed.
  [[nodiscard]] const std::vector<std::filesystem::path>& paths() const noexcept { return paths_; }
  /// The real path of the folder that locations count from.
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
  /// The number of bytes of all files mapped so far for this model.
  [[nodiscard]] std::uint64_t size() const;

 private:
  /// A location in the model, where it is, and what errors call its file.
  struct Wanted {
    const std::string& location;
    Place place;
    std::string_view what;
  };
  [[nodiscard]] Mapping open(const Wanted& wanted);
  /// Returns null if the folder has no such file.
  [[nodiscard]] Mapping open_in(const std::string& folder, const Wanted& wanted);
  [[nodiscard]] Error missing(const Wanted& wanted, std::string_view fault) const;
  Mapping keep(const std::string& location, Mapping file);

  std::filesystem::path folder_;       // real path of the folder that the caller named
  std::filesystem::path link_folder_;  // real path of the folder of the model's own file, after symbolic links
  bool has_data_dir_;
  std::filesystem::path root_;               // real path of the folder that data must be in
  std::vector<std::string> folders_ = {""};  // in `root_`: where data is looked for
  std::vector<std::filesystem::path> paths_;
  std::map<std::string, Mapping> by_location_;
  std::shared_ptr<Files> files_ = std::make_shared<Files>();
};

/// Says why `location` cannot be a path beneath a folder; nothing if it can.
std::optional<std::string> location_fault(std::string_view location);

/// Links lead to data files. If the model is a link (onnxar/link.h), a tensor whose location is the archive's name has
/// its data in an entry of that archive.
class FileSource final : public ModelSource {
 public:
  /// `path` is the model's file, or empty for bytes. Without `files`, every link to data is an error: a model in memory
  /// has no folder.
  FileSource(GraphBytes graph, const std::filesystem::path& path, const LoadOptions& options,
             std::optional<ExternalFiles> files)
      : ModelSource(options, path, std::move(graph)), files_(std::move(files)), marker_(*this), payloads_(options) {}

  [[nodiscard]] std::uint64_t input_size() const override { return model().size() + (files_ ? files_->size() : 0); }
  [[nodiscard]] Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override;
  /// The files that links lead to; null for a model in memory.
  [[nodiscard]] const ExternalFiles* files() const noexcept { return files_ ? &*files_ : nullptr; }
  /// See ExternalFiles.
  void look_in(const std::filesystem::path& root, const std::vector<std::string>& folders,
               const std::shared_ptr<ExternalFiles::Files>& files) {
    if (files_) files_->look_in(root, folders, files);
  }
  /// The archive whose file has the name `location`, in the state that the link was made from. Null if the model is not
  /// a link to it. Errors: onnx.link.*; as ExternalFiles::map. REQUIRES: there are files.
  const Archive* linked_archive(const std::string& location, std::uint64_t offset_of_tensor);
  /// That archive if it was opened before; otherwise null.
  [[nodiscard]] const Archive* linked_archive() const noexcept { return linked_.get(); }

  using ModelSource::add_remark;

 private:
  [[nodiscard]] onnx::ExternalSlice link_of(const onnx::TensorView& tensor) const override;

  std::optional<ExternalFiles> files_;
  ModelMarker marker_;
  EntryPayloads payloads_;                 // of `linked_`
  std::shared_ptr<const Archive> linked_;  // in the state of the marker; opened at its first use
};

/// The files that links of `source` lead to; null if links do not lead to files.
const ExternalFiles* files_of(const ModelSource& source);

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

/// Opens a model that goes into `target`, which must outlive the source; see archive_source.cc. Links of a model that
/// is an archive lead to its own entries. Errors: as `open_source`.
std::unique_ptr<ModelSource> open_source_for(const Archive& target, const std::filesystem::path& path,
                                             FileLinks file_links, const LoadOptions& options);
/// As `open_source_for`, for a serialised ModelProto; its data files are in `options.external_data_dir`.
std::unique_ptr<ModelSource> source_for(const Archive& target, Bytes model, FileLinks file_links,
                                        const LoadOptions& options);

// Other programs' zips and folders (foreign_source.cc).

/// Opens a zip file that is not an archive. Links lead to entries beside the model, in its folder of the zip. Errors:
/// io.*, zip.*, archive.model.missing; wire.*, onnx.* of a model that PyTorch wrote.
std::unique_ptr<ModelSource> open_foreign_zip(const std::filesystem::path& path, const LoadOptions& options);

/// Opens a folder that PyTorch's older exporter wrote: each tensor's data is a file with the tensor's name, and
/// stand-ins in the model, which is at `model`, become links to these files. Errors: io.*; wire.*, onnx.* of the model.
std::unique_ptr<ModelSource> open_foreign_folder(const std::filesystem::path& model, const LoadOptions& options);

}  // namespace onnxar
