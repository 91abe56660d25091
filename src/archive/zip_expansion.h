// Limits the number of bytes that a foreign zip may expand to.
#pragma once

#include <cstdint>

#include "base/byte_budget.h"
#include "onnxar/error.h"
#include "zip/foreign_directory.h"

namespace onnxar {

/// Limits what one zip file may expand to. Entries are counted before they are inflated.
class ZipExpansion {
 public:
  ZipExpansion(std::uint64_t input_bytes, std::uint64_t times) : budget_(input_bytes, times) {}

  /// Counts the bytes of an entry that will be used. Throws zip.limit.expansion.
  void add(const zip::ForeignEntry& entry);
  /// Throws zip.limit.expansion if `bytes`, the total size of the output, exceeds the limit.
  void check(std::uint64_t bytes) const;
  /// Returns the maximum number of bytes.
  [[nodiscard]] std::uint64_t most() const noexcept { return budget_.most(); }

 private:
  [[noreturn]] void refuse(std::uint64_t bytes, const Place& place) const;

  base::ByteBudget budget_;
};

}  // namespace onnxar
