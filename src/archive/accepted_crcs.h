// Entries whose CRC-32 is wrong and whose bytes are to be taken all the same.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "onnxar/bytes.h"
#include "onnxar/edit.h"
#include "zip/foreign_directory.h"

namespace onnxar {

/// What RepackOptions::accept_crc names, held against the file before anything is written: so a name that is not there,
/// or whose CRC-32 is right, is found in a dry run, too.
class AcceptedCrcs {
 public:
  /// Sums the named entries and adds a warning for each to the report.
  /// Errors: usage.no_such_entry; usage.argument (the CRC-32 is right already); zip.data.inflate.
  AcceptedCrcs(Bytes file, const zip::ForeignDirectory& directory, std::span<const std::string> names,
               RepackReport& report);

  /// Whether the entry is a named one and its bytes still have the CRC-32 that was summed.
  [[nodiscard]] bool accepts(const zip::ForeignEntry& entry, std::uint32_t crc) const;

 private:
  std::map<std::uint64_t, std::uint32_t> true_crcs_;  // by the entry's header offset
};

}  // namespace onnxar
