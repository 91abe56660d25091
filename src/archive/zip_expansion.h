// How many bytes may be made of a foreign zip.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/byte_budget.h"
#include "onnxar/error.h"
#include "zip/foreign_directory.h"
#include "zip/format.h"

namespace onnxar {

/// The budget of a zip file, from which the entries that are used are paid before they are inflated.
class ZipExpansion {
 public:
  ZipExpansion(std::uint64_t input_bytes, std::uint64_t times) : budget_(input_bytes, times) {}

  /// Counts the bytes of an entry that is going to be used. Errors: zip.limit.expansion.
  void add(const zip::ForeignEntry& entry);
  /// Compares the size of everything that will be made with the limit. Errors: zip.limit.expansion.
  void check(std::uint64_t bytes) const;
  /// The most bytes that may be made.
  [[nodiscard]] std::uint64_t most() const noexcept { return budget_.most(); }

 private:
  [[noreturn]] void refuse(std::uint64_t bytes, const Place& place) const;

  base::ByteBudget budget_;
};

/// The bytes that a Spool needs for the deflated entries that are used: as many as they state, but at most as many as
/// may be made.
template <typename IsUsed>
std::uint64_t room_to_inflate(const zip::ForeignDirectory& directory, const ZipExpansion& expansion,
                              const IsUsed& is_used) {
  std::uint64_t stated = 0, deflated = 0;
  for (const zip::ForeignEntry& entry : directory.entries()) {
    if (!entry.deflated || !is_used(entry)) continue;
    stated += entry.size;  // at most a thousand times the stored size, and entries do not overlap: no sum wraps
    ++deflated;
  }
  return std::min(stated, expansion.most()) + deflated * zip::alignment_minimum;
}

}  // namespace onnxar
