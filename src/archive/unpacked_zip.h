// A foreign zip whose entries can be read in place.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "archive/foreign_zip.h"
#include "base/mapped_file.h"
#include "onnxar/bytes.h"
#include "zip/foreign_directory.h"

namespace onnxar {

/// Stored entries are views of the mapped file. Deflated entries are views of a nameless file, and each is inflated to
/// it when it is first read. So entries are not held in memory, and entries that are not read are not inflated. Owns
/// both files. Move-only. Not synchronised, except where noted.
class UnpackedZip {
 public:
  /// Reads the directory and finds the model. Inflated entries go to a file in `folder`. The entries that are used may
  /// inflate to `max_expansion` times the size of the zip. `has_stand_ins` is called for a model named `__MODEL_PROTO`.
  /// Errors: io.*, zip.*, archive.model.missing. Cost: O(entries), and O(bytes) of the model.
  UnpackedZip(const std::filesystem::path& path, std::filesystem::path folder, std::uint64_t max_expansion,
              const HasStandIns& has_stand_ins);

  [[nodiscard]] const zip::ForeignDirectory& directory() const noexcept { return directory_; }
  [[nodiscard]] const ForeignModel& model() const noexcept { return model_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// The file that the bytes of stored entries are mapped from.
  [[nodiscard]] const base::FileOrigin* origin() const noexcept { return file_.origin(); }
  [[nodiscard]] std::uint64_t file_size() const noexcept { return file_.bytes().size(); }
  [[nodiscard]] const zip::ForeignEntry& entry(std::size_t index) const { return directory_.entries()[index]; }

  /// Returns the bytes of an entry. A deflated entry is inflated and verified; a stored entry is not verified.
  /// Errors: zip.*, io.*.
  [[nodiscard]] Bytes bytes(std::size_t index);
  /// Returns the range of an entry's bytes. A deflated entry is inflated later, when `bytes` is called or a source is
  /// read. Errors: zip.limit.expansion; io.*.
  [[nodiscard]] Bytes place_of(std::size_t index);
  /// Compares the CRC-32 of a stored entry. Errors: zip.data.crc.
  void verify(std::size_t index) const;
  /// Returns a source of the bytes of an entry. It verifies them while it is read, with up to `threads` threads (0: one
  /// per core), and may be read by any thread. The zip must outlive it. Errors: zip.limit.expansion.
  [[nodiscard]] std::unique_ptr<const ByteSource> source(std::size_t index, std::size_t threads);
  /// Returns a source of `part`, a part of the range that `place_of` returned for a deflated entry.
  [[nodiscard]] std::unique_ptr<const ByteSource> inflated_source(std::size_t index, Bytes part) const;

 private:
  void use(std::size_t index);

  std::filesystem::path path_;
  std::filesystem::path folder_;
  base::MappedFile file_;
  zip::ForeignDirectory directory_;
  ZipExpansion expansion_;
  ForeignModel model_;
  std::vector<bool> used_;  // by index: whether the entry is counted in expansion_
  std::unique_ptr<Spool> spool_;
};

}  // namespace onnxar
