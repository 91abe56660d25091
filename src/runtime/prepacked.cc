// Places the ranges of prepacked weights in the file of an archive, and aligns data that ONNX Runtime stored.
#include "runtime/prepacked.h"

#include <algorithm>
#include <array>

#include "base/byte_range.h"
#include "base/checked.h"
#include "base/kept.h"
#include "base/text.h"
#include "onnx/external_data.h"
#include "onnx/fields.h"
#include "onnx/rewrite.h"
#include "onnx/rope.h"
#include "onnx/string_entry.h"
#include "onnx/wire.h"
#include "onnxar/error.h"
#include "zip/format.h"
#include "zip/layout.h"

namespace onnxar {
namespace {

constexpr std::string_view key_prefix = "prepacked";  // ONNX Runtime compares only this

/// In bytes. ONNX Runtime aligns its own memory to at most 256.
constexpr std::uint64_t least_alignment = 256;

/// Returns the new offset of a range, given its offset and length.
using Relocation = std::function<std::uint64_t(std::uint64_t, std::uint64_t)>;

/// Removes the text up to the next `separator`, or to the end, from the front of `rest`, and returns it.
std::string_view cut(std::string_view& rest, char separator) {
  const std::string_view part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  return part;
}

/// Moves the ranges of `kernel|offset;length;checksum|offset;length;checksum|...`, which must lie in the first `size`
/// bytes.
std::string moved(std::string_view value, std::uint64_t size, std::uint64_t tensor, const Relocation& place) {
  const std::string_view all = value;
  std::string out(cut(value, '|'));
  while (!value.empty()) {
    std::string_view range = cut(value, '|');
    const auto offset = base::plain_decimal(cut(range, ';')), length = base::plain_decimal(cut(range, ';'));
    if (!offset || !length || !base::length_within(*offset, length, size)) {
      throw Error(Code::onnx_external_out_of_range,
                  base::concat("the prepacked weights ", base::quoted(all), " are not ranges of the tensor's entry"),
                  {"", tensor});
    }
    out += base::concat("|", place(*offset, *length), ";", *length, ";", range);
  }
  return out;
}

std::string moved_fields(Bytes model, const onnx::TensorView& tensor, std::uint64_t size, const Relocation& place) {
  std::string fields;
  onnx::Cursor cursor(model, tensor.range);
  for (onnx::Field field; cursor.next(field);) {
    if (field.number != onnx::tensor_field::external_data || field.type != onnx::Type::length_delimited) continue;
    const auto [key, value] = onnx::read_string_entry(model, field.value);
    if (!key.starts_with(key_prefix)) continue;
    const std::string there = moved(value, size, tensor.range.begin, place);
    onnx::append_string_entry(fields, onnx::tensor_field::external_data, key, there);
  }
  return fields;
}

}  // namespace

std::string prepacked_fields(Bytes model, const onnx::TensorView& tensor, const Archive& archive, std::uint64_t begin) {
  const auto entry = archive.find(*tensor.external.location);
  if (!entry) return {};  // the location is the archive's own file
  const Bytes data = archive.bytes(*entry);
  begin += static_cast<std::uint64_t>(data.data() - archive.file().data());
  return moved_fields(model, tensor, data.size(),
                      [begin](std::uint64_t offset, std::uint64_t) { return begin + offset; });
}

onnx::Rope AlignedData::move(base::Kept<Bytes> model) {
  return onnx::rewrite_tensors(model, [&](const onnx::TensorSite& site) {
    if (!site.tensor.is_external()) return onnx::TensorEdit::keep();
    const std::uint64_t at = site.tensor.range.begin;
    const onnx::ExternalSlice slice = onnx::parse_external_data(site.tensor.external, at);
    if (slice.location != location_) onnx::refuse_missing(slice.location, "what ONNX Runtime stored", at);
    const std::uint64_t length = onnx::length_in(slice, site.tensor.expected_size(), data_.size(), "data file", at);
    const std::uint64_t begin = place(slice.offset, length, at);
    std::string more =
        moved_fields(model, site.tensor, data_.size(),
                     [&](std::uint64_t offset, std::uint64_t blob_length) { return place(offset, blob_length, at); });
    return onnx::TensorEdit::link_to({slice.location, begin, length, {}, std::move(more)});
  });
}

std::uint64_t AlignedData::place(std::uint64_t offset, std::uint64_t length, std::uint64_t tensor) {
  const auto [found, is_new] = begins_.try_emplace({offset, length});
  if (!is_new) return found->second;
  if (length > data_.size() - taken_) {  // limits the copy to the size of the data and its padding
    throw Error(Code::onnx_external_out_of_range, "ranges of the data that ONNX Runtime stored overlap", {"", tensor});
  }
  const std::uint64_t begin = base::align_up(size_, zip::entry_alignment(least_alignment, length));
  found->second = begin;
  ranges_[begin] = base::section(data_, offset, length);
  taken_ += length;
  size_ = begin + length;
  return begin;
}

void AlignedData::read(const ByteSink& sink) const {
  static constexpr std::array<std::byte, zip::page_alignment> zeros{};
  std::uint64_t end = 0;
  for (const auto& [begin, range] : ranges_) {
    if (begin != end) sink(Bytes(zeros).first(base::in_memory(begin - end)));
    if (!range.empty()) sink(range);
    end = begin + range.size();
  }
}

}  // namespace onnxar
