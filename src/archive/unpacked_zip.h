// A zip file of another maker with the bytes of its entries at hand.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "archive/foreign_zip.h"
#include "base/mapped_file.h"
#include "onnxar/byte_source.h"
#include "zip/lenient_directory.h"

namespace onnxar {

/// Stored entries are views of the mapped file, deflated ones of a nameless file that they were inflated to: none is
/// gathered in memory. Owns both; move-only. Threads: const throughout.
class UnpackedZip {
 public:
  /// Inflates every deflated entry into a file in `folder`, and verifies its CRC-32.
  /// Errors: io.*, zip.*, archive.model.missing. Cost: O(entries), and O(bytes) of the deflated ones.
  UnpackedZip(const std::filesystem::path& path, const std::filesystem::path& folder);

  [[nodiscard]] const zip::LenientDirectory& directory() const noexcept { return directory_; }
  [[nodiscard]] const ForeignModel& model() const noexcept { return model_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t file_size() const noexcept { return file_.bytes().size(); }
  /// The bytes of a file; not verified if it is stored.
  [[nodiscard]] Bytes bytes(std::size_t index) const;
  /// Compares the CRC-32 of a stored entry. Errors: zip.data.crc.
  void verify(std::size_t index) const;
  /// The bytes of an entry, verified as they are read, by up to `threads` threads (0: as many as there are cores); the
  /// zip must outlive it.
  [[nodiscard]] std::unique_ptr<const ByteSource> source(std::size_t index, std::size_t threads) const;

 private:
  void inflate_all(const std::filesystem::path& folder);
  [[nodiscard]] const zip::LenientEntry& entry(std::size_t index) const { return directory_.entries()[index]; }

  std::filesystem::path path_;
  base::MappedFile file_;
  zip::LenientDirectory directory_;
  ForeignModel model_;
  std::vector<std::uint64_t> places_;  // by index: of an inflated entry in inflated_
  std::optional<base::MappedFile> inflated_;
};

}  // namespace onnxar
