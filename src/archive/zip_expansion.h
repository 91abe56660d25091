// Limits the number of bytes that a foreign zip may expand to.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/byte_budget.h"
#include "onnxar/error.h"
#include "zip/foreign_directory.h"
#include "zip/format.h"

namespace onnxar {

/// The budget of a zip file. Entries that are used are counted in it before they are inflated.
class ZipExpansion {
 public:
  ZipExpansion(std::uint64_t input_bytes, std::uint64_t times) : budget_(input_bytes, times) {}

  /// Counts the bytes of an entry that is going to be used. Errors: zip.limit.expansion.
  void add(const zip::ForeignEntry& entry);
  /// Compares `bytes`, the total size of the output, with the limit. Errors: zip.limit.expansion.
  void check(std::uint64_t bytes) const;
  /// The maximum number of bytes.
  [[nodiscard]] std::uint64_t most() const noexcept { return budget_.most(); }

 private:
  [[noreturn]] void refuse(std::uint64_t bytes, const Place& place) const;

  base::ByteBudget budget_;
};

/// The capacity that a Spool needs for the deflated entries that are used: the sum of their stated sizes, but not more
/// than the limit.
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
