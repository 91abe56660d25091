// A zip file of another maker with the bytes of its entries at hand.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "archive/foreign_zip.h"
#include "archive/spool.h"
#include "archive/zip_expansion.h"
#include "base/mapped_file.h"
#include "onnxar/bytes.h"
#include "zip/foreign_directory.h"

namespace onnxar {

/// Stored entries are views of the mapped file, deflated ones of a nameless file that each is inflated to when it is
/// first read: none is gathered in memory, and none is inflated that is not read. Owns both; move-only. Not
/// synchronised, except for what is said below.
class UnpackedZip {
 public:
  /// Reads the directory and finds the model, nothing more. What is inflated goes to a file in `folder`; of the entries
  /// that are used, `max_expansion` times the zip's own bytes may be made.
  /// Errors: io.*, zip.*, archive.model.missing. Cost: O(entries), and O(bytes) of the model.
  UnpackedZip(const std::filesystem::path& path, std::filesystem::path folder, std::uint64_t max_expansion);

  [[nodiscard]] const zip::ForeignDirectory& directory() const noexcept { return directory_; }
  [[nodiscard]] const ForeignModel& model() const noexcept { return model_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// What the bytes of stored entries are mapped from.
  [[nodiscard]] const base::FileOrigin* origin() const noexcept { return file_.origin(); }
  [[nodiscard]] std::uint64_t file_size() const noexcept { return file_.bytes().size(); }
  [[nodiscard]] const zip::ForeignEntry& entry(std::size_t index) const { return directory_.entries()[index]; }

  /// The bytes of a file that may be read at once: inflated by now, and not verified if it is stored.
  /// Errors: zip.*, io.*.
  [[nodiscard]] Bytes bytes(std::size_t index);
  /// Where they are. Those of a deflated entry come when `bytes` or a source of them is asked for.
  /// Errors: zip.limit.expansion; io.*.
  [[nodiscard]] Bytes place_of(std::size_t index);
  /// Compares the CRC-32 of a stored entry. Errors: zip.data.crc.
  void verify(std::size_t index) const;
  /// The bytes of an entry, verified as they are read, by up to `threads` threads (0: as many as there are cores); the
  /// zip must outlive it. It may be read by any thread. Errors: zip.limit.expansion.
  [[nodiscard]] std::unique_ptr<const ByteSource> source(std::size_t index, std::size_t threads);
  /// `part` of what `place_of` gave of a deflated entry. As above.
  [[nodiscard]] std::unique_ptr<const ByteSource> inflated_source(std::size_t index, Bytes part) const;

 private:
  void use(std::size_t index);

  std::filesystem::path path_;
  std::filesystem::path folder_;
  base::MappedFile file_;
  zip::ForeignDirectory directory_;
  ZipExpansion expansion_;
  ForeignModel model_;
  std::vector<bool> used_;  // by index: counted in expansion_
  std::unique_ptr<Spool> spool_;
};

}  // namespace onnxar
