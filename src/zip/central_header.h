// One header of the central directory, held against the strict profile.
#pragma once

#include <cstdint>
#include <optional>

#include "onnxar/bytes.h"
#include "zip/directory.h"
#include "zip/format.h"

namespace onnxar::zip {

/// The length, with name, extra fields and comment, of a header parsed from the front of `directory`, which lies at
/// `offset` in the file: it is there and ends in the directory. Errors: zip.directory.header.
std::uint64_t proved_length(const std::optional<CentralFileHeader>& header, Bytes directory, std::uint64_t offset);

/// Reads the header at the front of `directory`, which lies at `offset` in the file, into `entry`, and gives its length
/// with name and extra fields. Everything that one header can show on its own is checked. The entry's name is a view
/// into `directory`. Errors: zip.directory.header, zip.entry.*, zip.name.*, zip.extra.*, zip.zip64.extra.
std::uint64_t read_central_header(Bytes directory, std::uint64_t offset, DirectoryEntry& entry);

}  // namespace onnxar::zip
