// Opens an input once: what it is, and what it holds, is read from the same file.
#pragma once

#include <filesystem>
#include <memory>

#include "archive/opening.h"
#include "base/mapped_file.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/options.h"
#include "os/file.h"

namespace onnxar {

/// Holds an input that was opened once. Its kind is decided by the bytes that are handed on, so a file that takes its
/// name in between changes nothing. Keeps the file open until it is destroyed. Move-only.
class OpenedInput {
 public:
  /// Maps the file at `path`; or, if `open_ranges` is set and returns a file for the address `path`, holds that one.
  /// Throws what MappedFile::open and `open_ranges` throw.
  explicit OpenedInput(std::filesystem::path path, const RangesOpener& open_ranges = {});
  /// Maps an open file; `path` is its name. Throws what MappedFile::map throws.
  OpenedInput(os::File file, std::filesystem::path path);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// Returns the mapping; null if the input is at an address.
  [[nodiscard]] const std::shared_ptr<const base::MappedFile>& file() const noexcept { return mapping_; }
  /// True if the input can only be an archive: it is at an address, or it looks like a zip.
  [[nodiscard]] bool is_zip() const noexcept;
  /// Opens the archive. Throws what Archive::open throws.
  [[nodiscard]] Archive archive(AdviceOn advice = AdviceOn::all_faults) const;

 private:
  std::filesystem::path path_;
  std::shared_ptr<const RandomAccess> ranges_;
  os::File file_;
  std::shared_ptr<const base::MappedFile> mapping_;
};

}  // namespace onnxar
