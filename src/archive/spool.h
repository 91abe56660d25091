// Where deflated entries of a zip file are inflated to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/mapped_file.h"
#include "base/output_file.h"
#include "zip/lenient_directory.h"

namespace onnxar {

/// A nameless file that is mapped as a whole before anything is in it. Each entry has its place from the first time
/// that it is asked for, and is inflated to it when its bytes are. Threads: any member by any thread.
class Spool {
 public:
  /// In `folder`, for at most `capacity` bytes; the entries are those of `zip`, which must outlive this.
  /// Errors: io.*.
  Spool(const std::filesystem::path& folder, Bytes zip, std::uint64_t capacity);

  /// Where the bytes of a deflated entry will be. Pages of the file that nothing was written to take no room.
  /// REQUIRES: the places of all entries, each at a multiple of zip::alignment_minimum, fit the capacity.
  Bytes place_of(const zip::LenientEntry& entry);
  /// Has them there, verified; inflates at most once. REQUIRES: place_of(entry) was called.
  /// Errors: zip.data.*, io.*.
  Bytes bytes(const zip::LenientEntry& entry);

 private:
  struct Place {
    std::uint64_t offset = 0;
    bool filled = false;
  };

  void fill(const zip::LenientEntry& entry, std::uint64_t offset);

  std::mutex mutex_;
  Bytes zip_;
  base::OutputFile file_;
  std::optional<base::MappedFile> mapping_;
  std::unordered_map<std::uint64_t, Place> places_;  // by the entry's header offset, which no two share
  std::uint64_t end_ = 0;
};

}  // namespace onnxar
