// Reads and writes pairs of strings, and finds those of metadata_props by their keys.
#include "onnx/string_entry.h"

#include <optional>

#include "onnx/fields.h"
#include "onnxar/error.h"

namespace onnxar::onnx {
namespace {

std::optional<StringEntry> read_undamaged(Bytes model, Range range) try {
  return read_string_entry(model, range);
} catch (const Error&) {
  return std::nullopt;  // the specification's rules are about tensors, so damage in other metadata is not an error
}

}  // namespace

StringEntry read_string_entry(Bytes model, Range range) {
  StringEntry entry;
  Cursor cursor(model, range);
  for (Field field; cursor.next(field);) {
    if (field.type != Type::length_delimited) continue;
    if (field.number == entry_field::key) entry.key = as_text(field.value.of(model));
    if (field.number == entry_field::value) entry.value = as_text(field.value.of(model));
  }
  return entry;
}

void append_string_entry(std::string& out, std::uint32_t number, std::string_view key, std::string_view value) {
  const auto size_of = [](std::string_view text) { return 1 + varint_size(text.size()) + text.size(); };  // tag first
  append_tag(out, number, Type::length_delimited);
  append_varint(out, size_of(key) + size_of(value));
  append_bytes_field(out, entry_field::key, key);
  append_bytes_field(out, entry_field::value, value);
}

std::vector<MetadataEntry> find_metadata(Bytes model, std::string_view prefix) {
  std::vector<MetadataEntry> found;
  Cursor cursor(model, {0, model.size()});
  for (Field field; cursor.next(field);) {
    if (field.number != model_field::metadata_props || field.type != Type::length_delimited) continue;
    const auto entry = read_undamaged(model, field.value);
    if (entry && entry->key.starts_with(prefix)) found.push_back({*entry, field.whole});
  }
  return found;
}

}  // namespace onnxar::onnx
