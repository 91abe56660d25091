// Sizes and offset of a directory header, from the zip64 field where they do not fit (APPNOTE 4.5.3).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "onnxar/bytes.h"
#include "zip/format.h"
#include "zip/rules.h"

namespace onnxar::zip {

struct WideFields {
  std::uint64_t size = 0;
  std::uint64_t compressed_size = 0;
  std::uint64_t header_offset = 0;
  bool needed = false;  ///< whether some value of the zip64 field calls for it
};

/// The real values: `zip64` is the payload of the zip64 field, which holds those that the header sends there, in order.
/// Some writers give all three whatever fits (and the disk's number): read, where they agree. In a zip file of any
/// maker the field may end after any of the values. `name` and `offset` of the header are for messages. Errors:
/// zip.zip64.extra, zip.entry.disk.
WideFields read_wide_fields(const CentralFileHeader& header, std::optional<Bytes> zip64, std::string_view name,
                            std::uint64_t offset, Rules rules);

}  // namespace onnxar::zip
