// How many bytes may be made of a zip file.
#pragma once

#include <algorithm>
#include <cstdint>

#include "zip/foreign_directory.h"
#include "zip/format.h"

namespace onnxar {

/// What is made of a zip file, counted before it is made. A few bytes of deflate may hold a thousand times as many, and
/// files come from strangers: so as many bytes as the file has may become of it, times a number that the caller
/// chooses.
class ZipExpansion {
 public:
  ZipExpansion(std::uint64_t input_bytes, std::uint64_t times) : input_bytes_(input_bytes), times_(times) {}

  /// Counts the bytes of an entry that is going to be used. Errors: zip.limit.expansion.
  void add(const zip::ForeignEntry& entry);
  /// Holds the size of all that is made against the limit. Errors: zip.limit.expansion.
  void check(std::uint64_t bytes) const { check(bytes, {}); }
  /// The most that may be made.
  [[nodiscard]] std::uint64_t most() const noexcept;

 private:
  void check(std::uint64_t bytes, const Place& place) const;

  std::uint64_t input_bytes_;
  std::uint64_t times_;
  std::uint64_t bytes_ = 0;
};

/// What a Spool has to hold for the deflated entries that are used: no more than what they say, nor than may be made.
template <typename IsUsed>
std::uint64_t room_to_inflate(const zip::ForeignDirectory& directory, const ZipExpansion& expansion,
                              const IsUsed& is_used) {
  std::uint64_t said = 0, deflated = 0;
  for (const zip::ForeignEntry& entry : directory.entries()) {
    if (!entry.deflated || !is_used(entry)) continue;
    said += entry.size;
    ++deflated;
  }
  return std::min(said, expansion.most()) + deflated * zip::alignment_minimum;
}

}  // namespace onnxar
