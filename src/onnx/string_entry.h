// Reads and writes StringStringEntryProto: the pairs of strings in external_data and metadata_props.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/wire.h"
#include "onnxar/bytes.h"

namespace onnxar::onnx {

/// A pair of strings, as views into the model's bytes.
struct StringEntry {
  std::string_view key, value;
};

/// Reads the message at `range`. Throws wire.*.
StringEntry read_string_entry(Bytes model, Range range);
/// Appends a pair as the field `number`.
void append_string_entry(std::string& out, std::uint32_t number, std::string_view key, std::string_view value);

/// One field of the model's metadata_props.
struct MetadataEntry {
  StringEntry entry;
  Range whole;  ///< of the field
};

/// Returns the metadata_props of the serialised ModelProto whose key begins with `prefix`. Damaged pairs are skipped.
/// Throws wire.* (in the fields of ModelProto). Cost: O(fields of ModelProto itself).
std::vector<MetadataEntry> find_metadata(Bytes model, std::string_view prefix);

}  // namespace onnxar::onnx
