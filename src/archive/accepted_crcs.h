// Entries that `repack` copies although their CRC-32 is wrong.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "onnxar/bytes.h"
#include "onnxar/edit.h"
#include "zip/foreign_directory.h"

namespace onnxar {

/// The entries of RepackOptions::accept_crc. Their CRC-32 is computed before anything is written, so that a dry run
/// also reports a name that does not exist and an entry whose CRC-32 is right.
class AcceptedCrcs {
 public:
  /// Computes the CRC-32 of each named entry, and adds a warning about it to the report.
  /// Errors: usage.no_such_entry; usage.argument (the CRC-32 is right already); zip.data.inflate.
  AcceptedCrcs(Bytes file, const zip::ForeignDirectory& directory, std::span<const std::string> names,
               RepackReport& report);

  /// Whether the entry was named, and `crc`, the sum of the copied bytes, is the one that was computed. The input may
  /// have changed in between.
  [[nodiscard]] bool accepts(const zip::ForeignEntry& entry, std::uint32_t crc) const;

 private:
  std::set<std::pair<std::uint64_t, std::uint32_t>> true_crcs_;  // header offset of the entry, CRC-32 of its data
};

}  // namespace onnxar
