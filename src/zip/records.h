// Converts records of zip files to bytes and back.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "onnxar/bytes.h"
#include "zip/format.h"

namespace onnxar::zip {

// Each parser reads the record at the front of `bytes`. It returns nothing if the bytes are too few or begin with a
// different signature.
std::optional<LocalFileHeader> parse_local_file_header(Bytes bytes) noexcept;
std::optional<CentralFileHeader> parse_central_file_header(Bytes bytes) noexcept;
std::optional<EndRecord> parse_end_record(Bytes bytes) noexcept;
std::optional<Zip64EndRecord> parse_zip64_end_record(Bytes bytes) noexcept;
std::optional<Zip64Locator> parse_zip64_locator(Bytes bytes) noexcept;

void append_record(std::vector<std::byte>& out, const LocalFileHeader& header);
void append_record(std::vector<std::byte>& out, const CentralFileHeader& header);
void append_record(std::vector<std::byte>& out, const EndRecord& record);
void append_record(std::vector<std::byte>& out, const Zip64EndRecord& record);
void append_record(std::vector<std::byte>& out, const Zip64Locator& locator);

/// True if `bytes` begin with the signature of a zip record. The rest of the record may be missing, so a truncated zip
/// file qualifies, and so does a zip file without entries. A protobuf message never does: the third byte would be the
/// tag of field 0.
bool begins_with_record(Bytes bytes) noexcept;

}  // namespace onnxar::zip
