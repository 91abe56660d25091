// A model on disk: its ModelProto bytes, and the bytes that its links name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "archive/entry_source.h"
#include "base/mapped_file.h"
#include "onnx/external_data.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/error.h"
#include "onnxar/options.h"
#include "source/external_files.h"
#include "source/link_marker.h"
#include "source/payload.h"

namespace onnxar {

class ForeignSource;

/// An archive or a `.onnx` file, on the wire or as text, mapped or in memory. Told apart by content.
class ModelSource {
 public:
  /// Errors: io.*; zip.* and archive.* where the file begins as a zip; onnx.model.invalid (empty); onnx.text.syntax;
  /// usage.no_text_parser.
  static ModelSource open(const std::filesystem::path& path, const LoadOptions& options);
  /// The bytes of either; `owner` keeps them alive, without one the caller does. Of `.onnx` bytes external data lies in
  /// `options.external_data_dir`. Errors: as `open`.
  static ModelSource of(Bytes bytes, std::shared_ptr<const void> owner, const LoadOptions& options);
  /// A model whose archive is open already.
  static ModelSource of(Archive archive, const LoadOptions& options);
  /// The `.onnx` file at `path`, mapped already. Errors: onnx.model.invalid (empty).
  static ModelSource of(std::shared_ptr<const base::MappedFile> file, const std::filesystem::path& path,
                        const LoadOptions& options);
  /// A model that is to go into `target`, which must outlive the source: what is no archive itself has its links lead
  /// to entries of it, to ranges of its file, or, if `files` are allowed, to data files. Errors: as `open`.
  static ModelSource open_for(const Archive& target, const std::filesystem::path& path, bool files,
                              const LoadOptions& options);
  /// The same for a serialised model; its files are in `options.external_data_dir`.
  static ModelSource of_bytes_for(const Archive& target, Bytes model, bool files, const LoadOptions& options);
  /// What `open` reads, and where `options.foreign_zips` allows it, zips and folders of other makers: what is a plain
  /// zip by its first fault. Errors: as `open`; of such a zip those of ForeignSource.
  static ModelSource open_any(const std::filesystem::path& path, const LoadOptions& options);

  /// The bytes of the graph that is selected: at first, and mostly, the model's.
  [[nodiscard]] Bytes model() const noexcept { return model_; }
  /// The entries of the further graphs, by name, in the order of the file.
  [[nodiscard]] std::vector<std::string> graphs() const;
  /// Makes that graph the one that `model`, `owner`, `located` and `place_of` speak of. Errors: as Archive::bytes; with
  /// LoadOptions::verify_data zip.data.crc.
  void select_graph(const std::string& name);
  /// Makes it the model again.
  void select_model();
  /// Whether `model()` was parsed from text.
  [[nodiscard]] bool from_text() const noexcept { return from_text_; }
  /// Keeps `model()` alive; null where the caller does.
  [[nodiscard]] const std::shared_ptr<const void>& owner() const noexcept { return owner_; }
  /// Null for a `.onnx` file.
  [[nodiscard]] const Archive* archive() const noexcept { return archive_ ? &*archive_ : nullptr; }
  /// The folder that links lead into; empty for an archive, and for bytes without a folder.
  [[nodiscard]] std::filesystem::path data_folder() const {
    return files_ ? files_->folder() : std::filesystem::path();
  }
  /// Bytes of the model's file, or archive, and of all other files that were needed so far.
  [[nodiscard]] std::uint64_t input_size() const;
  /// As ExternalFiles has it; nothing where there is no such folder.
  [[nodiscard]] std::optional<std::uint64_t> size_of_data_file(const std::string& location) const {
    return files_ ? files_->size_of(location) : std::nullopt;
  }
  /// Null for what `open` reads.
  [[nodiscard]] ForeignSource* foreign() const noexcept { return foreign_.get(); }

  /// The data of a tensor whose data_location is EXTERNAL.
  /// Errors: onnx.external*, onnx.tensor.length, zip.*, io.*, naming the tensor and where it stands.
  Payload external_payload(const onnx::TensorSite& site);
  /// Has the payload of this tensor held against the checksum of its link while it is read, if there is one and the
  /// payload is all of a file or entry: that is what a checksum is of. `external_payload` has done so unless
  /// LoadOptions::verify_data says no. Reading then throws onnx.external_data.checksum.
  /// Of several links to the same bytes with different checksums all but one are wrong: the second is refused at once.
  void hold_against_checksum(Payload& payload, const onnx::TensorSite& site);
  /// What a link's checksum says of this payload, if it says anything: the sum, and the error where it is another one.
  struct Claim {
    std::string checksum;
    Finding mismatch;
    [[nodiscard]] Error error(const std::filesystem::path& path) const {
      return {mismatch.code, mismatch.message, mismatch.place, path};
    }
  };
  [[nodiscard]] std::optional<Claim> claim_of(const Payload& payload, const onnx::TensorSite& site) const;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// The errors of `external_payload` that show without looking anything up.
  void prove_link(const onnx::TensorSite& site) const;
  /// Errors: onnx.tensor.no_type, with the tensor's place.
  void prove_type(const onnx::TensorSite& site) const;

  /// The archive whose file tensors with this location are linked to, if the model is a link (onnxar/link.h) to it, in
  /// the state that it was linked in; else null. Opened once. Errors: onnx.link.*; those of finding a data file.
  const Archive* linked_archive(const std::string& location, std::uint64_t offset_of_tensor);
  /// The same, if it was opened already.
  [[nodiscard]] const Archive* linked_archive() const noexcept { return linked_.get(); }

  /// `error`, whose offset counts from the model's first byte, with the place in the file instead.
  [[nodiscard]] Error located(const Error& error) const;
  [[nodiscard]] Place place_of(const onnx::TensorSite& site) const;

  /// The bytes of an entry of `archive()`, verified as they are read. Errors: as Archive::bytes.
  [[nodiscard]] std::shared_ptr<const ByteSource> entry_source(const ArchiveEntry& entry) const {
    return entry_source(*archive_, entry);
  }

 private:
  explicit ModelSource(const LoadOptions& options) : options_(options), sliced_(options.temporary_dir) {}
  /// What `action` throws names the tensor and where it stands.
  template <typename Action>
  auto naming(const onnx::TensorSite& site, const Action& action) const;
  /// As `open`, but without data files.
  static ModelSource open_alone(const std::filesystem::path& path, const LoadOptions& options);
  static ModelSource of_file_alone(std::shared_ptr<const base::MappedFile> file, const std::filesystem::path& path,
                                   const LoadOptions& options);
  ModelSource(std::shared_ptr<ForeignSource> foreign, const LoadOptions& options);
  Payload resolve(const onnx::TensorSite& site, const onnx::ExternalSlice& slice);
  Payload resolve_in_archive(const onnx::TensorSite& site, const onnx::ExternalSlice& slice);
  [[nodiscard]] std::shared_ptr<const ByteSource> entry_source(const Archive& archive, const ArchiveEntry& entry) const;
  Payload resolve_in_linked(const onnx::TensorSite& site, const onnx::ExternalSlice& slice);
  std::optional<Payload> resolve_in_target(const onnx::TensorSite& site, const onnx::ExternalSlice& slice);
  /// The part of an entry of `archive_` or `linked_` as a payload.
  Payload payload_in(const Archive& archive, const ArchiveEntry& entry, Bytes part);
  bool is_target_file(const std::string& location);
  /// Whether the model's metadata says that this is the archive that it links to.
  bool is_link_to(const std::string& archive);
  /// The model's marker, if it is a link to an archive of this file name.
  const LinkMarker* marker_of(const std::string& archive);
  Archive open_linked(const LinkMarker& marker, Bytes file, std::shared_ptr<const void> owner,
                      const std::filesystem::path& path);
  /// Proves, once, that a link to the target is one to a state of it.
  void prove_target_state(const LinkMarker& marker);

  /// Makes the bytes of this entry of `archive` those that are read. Errors: as `select_graph`.
  void select(const Archive& archive, const ArchiveEntry& entry);
  void verify_model(const Archive& archive, const ArchiveEntry& entry);
  [[nodiscard]] bool is_whole(const Payload& payload) const;
  /// Makes `bytes` the model; text is parsed first.
  void set_model(Bytes bytes, std::shared_ptr<const void> owner);

  LoadOptions options_;
  std::filesystem::path path_;
  Bytes model_;
  std::shared_ptr<const void> owner_;
  std::optional<Archive> archive_;
  const Archive* target_ = nullptr;
  bool target_proved_ = false;
  std::string real_target_name_;                     // once it was asked for
  std::optional<std::optional<LinkMarker>> marker_;  // once it was looked for
  std::optional<std::set<std::string>> link_to_;     // archives that it names
  std::shared_ptr<const Archive> linked_;            // the state that the marker tells of
  std::optional<Error> broken_link_;                 // why it cannot be had
  std::shared_ptr<ForeignSource> foreign_;
  std::optional<ExternalFiles> files_;
  std::string selected_ = std::string(model_entry_name);  // of an archive: the entry that `model_` is
  std::uint64_t model_offset_ = 0;                        // of it in the file
  bool from_text_ = false;                                // the model's bytes are none of the file's
  SlicedEntries sliced_;                                  // of `archive_`, or else of `linked_`
  std::map<const std::byte*, std::string> claimed_;       // checksums, by where a whole file or entry lies
};

/// Holds a tensor of a model in memory against its payload of `size` bytes: somebody may have edited the message.
/// Errors: onnx.external.string, .data_beside, onnx.tensor.length, naming the tensor.
void check_payload(const onnx::TensorSite& site, std::uint64_t size);

/// `tensor "w" (graph.initializer[3])`
std::string describe(const onnx::TensorSite& site);
/// What there is to say of a tensor that lacks data.
std::string no_data(const onnx::TensorSite& site);

}  // namespace onnxar
