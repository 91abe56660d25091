// Entries as other tools write them, the smallest archive, and edits of an archive.
#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "support/zip_builder.h"
#include "support/zip_bytes.h"

namespace onnxar::testing {
namespace {

constexpr std::uint16_t descriptor_flag = 0x0008;

// Raw deflate (RFC 1951) made of stored blocks: final bit and type 00 in one byte, length, its complement,
// the bytes.
Blob stored_deflate(const Blob& data) {
  constexpr std::size_t longest_block = 0xFFFF;
  Blob out;
  std::size_t done = 0;
  do {
    const std::size_t length = std::min(longest_block, data.size() - done);
    const bool last = done + length == data.size();
    out.push_back(last ? std::byte{1} : std::byte{0});
    put16(out, low16(length));
    put16(out, low16(~length));
    put_all(out, std::span(data).subspan(done, length));
    done += length;
  } while (done < data.size());
  return out;
}

}  // namespace

ZipEntry zip_entry(std::string_view name, Blob data) {
  ZipEntry entry;
  entry.name = name;
  entry.data = std::move(data);
  return entry;
}

ZipEntry deflated_entry(std::string_view name, const Blob& data) {
  ZipEntry entry = zip_entry(name, stored_deflate(data));
  const std::uint32_t crc = bitwise_crc32(data);
  return entry.in_both([&](HeaderFields& header) {
    header.version_needed = std::uint16_t{20};
    header.method = std::uint16_t{8};
    header.crc = crc;
    header.usize = data.size();
  });
}

ZipEntry streamed_entry(std::string_view name, Blob data, bool with_signature) {
  ZipEntry entry = zip_entry(name, std::move(data));
  const std::uint16_t flags = low16(is_ascii(name) ? descriptor_flag : descriptor_flag | utf8_flag);
  entry.in_both([&](HeaderFields& header) {
    header.version_needed = std::uint16_t{20};
    header.flags = flags;
  });
  entry.local.crc = 0U;
  entry.local.csize = 0U;
  entry.local.usize = 0U;
  if (with_signature) put32(entry.gap_after, signature::descriptor);
  put32(entry.gap_after, bitwise_crc32(entry.data));
  put32(entry.gap_after, low32(entry.data.size()));
  put32(entry.gap_after, low32(entry.data.size()));
  return entry;
}

ZipEntry plain_entry(ZipEntry entry) {
  entry.local.extra = Blob();
  entry.in_both([](HeaderFields& header) {
    header.version_needed = std::uint16_t{20};
    header.time = std::uint16_t{0x6a2b};
    header.date = std::uint16_t{0x5345};
  });
  entry.central.version_made_by = std::uint16_t{0x0314};
  entry.central.external_attributes = 0100644U << 16U;
  entry.central.internal_attributes = std::uint16_t{1};
  return entry;
}

Blob smallest_model(std::size_t elements, std::string_view producer) {
  const Dims dims = {static_cast<std::int64_t>(elements)};
  GraphParts parts;
  parts.nodes = {node("Identity", {"w"}, {"y"})};
  parts.initializers = {tensor("w", dtype::float32, dims).external("w", 0, 4 * elements)};
  parts.outputs = {value_info("y", dtype::float32, dims)};
  ModelParts whole;
  whole.producer_name = producer;
  whole.graph = graph(parts);
  return model(whole).take();
}

ZipBuilder smallest_builder() {
  constexpr std::size_t smallest_without_remark = 1024;
  return smallest_builder(pattern(smallest_without_remark));
}

ZipBuilder smallest_builder(Blob payload) {
  const std::size_t elements = payload.size() / 4;
  ZipBuilder builder;
  builder.entries.push_back(zip_entry("w", std::move(payload)));
  builder.entries.push_back(zip_entry(model_entry, smallest_model(elements)));
  return builder;
}

Built smallest_archive() { return smallest_builder().build_placed(); }

ZipBuilder edit_builder(const Built& base, Blob model, std::vector<ZipEntry> extra) {
  ZipBuilder builder;
  builder.base = std::make_shared<const Built>(base);
  builder.entries = std::move(extra);
  builder.entries.push_back(zip_entry(model_entry, std::move(model)));
  return builder;
}

Built append_edit(const Built& base, Blob model, std::vector<ZipEntry> extra) {
  return edit_builder(base, std::move(model), std::move(extra)).build_placed();
}

}  // namespace onnxar::testing
