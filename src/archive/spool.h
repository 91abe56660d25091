// Where bytes that are not to be gathered in memory are put while they are needed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/mapped_file.h"
#include "base/output_file.h"
#include "onnxar/bytes.h"
#include "zip/foreign_directory.h"

namespace onnxar {

/// A nameless file that is mapped as a whole before anything is in it: one descriptor and one mapping, however many
/// entries of a zip go into it. Each entry has its place from the first time that it is asked for, and is written to it
/// when its bytes are. Entries are told by their header offsets, which no two of one zip share. Threads: any member by
/// any thread.
class Spool {
 public:
  /// In `folder` (empty: the current one), for at most `capacity` bytes. The file is made for the first place.
  Spool(std::filesystem::path folder, std::uint64_t capacity) : folder_(std::move(folder)), capacity_(capacity) {}

  /// Where the bytes of an entry will be. Pages of the file that nothing was written to take no room. Errors: io.*.
  /// REQUIRES: the places of all entries, each at a multiple of zip::alignment_minimum, fit the capacity.
  Bytes place_of(std::uint64_t header_offset, std::uint64_t size);
  /// Has them there; `fill` hands them out, verified, at most once for each entry, and is tried again after it threw.
  /// REQUIRES: place_of(header_offset, ...) was called. Errors: those of `fill`; io.*.
  using Fill = std::function<void(const ByteSink&)>;
  Bytes bytes(std::uint64_t header_offset, const Fill& fill);

 private:
  struct Place {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    bool filled = false;
  };

  void make_file();

  std::filesystem::path folder_;
  std::uint64_t capacity_;
  std::mutex mutex_;
  std::optional<base::OutputFile> file_;
  std::optional<base::MappedFile> mapping_;
  std::unordered_map<std::uint64_t, Place> places_;
  std::uint64_t end_ = 0;
};

/// Hands out what a deflated entry is inflated to, and compares the CRC-32 at the end.
/// Errors: zip.data.inflate, zip.data.crc.
void inflate(Bytes zip, const zip::ForeignEntry& entry, const ByteSink& sink);

}  // namespace onnxar
