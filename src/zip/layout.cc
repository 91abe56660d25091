// Computes the layout of an archive from names, sizes and alignments, and writes its headers.
#include "zip/layout.h"

#include <algorithm>
#include <bit>

#include "base/checked.h"
#include "base/little_endian.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "zip/format.h"
#include "zip/records.h"

namespace onnxar::zip {
namespace {

std::uint32_t low32(std::uint64_t value) noexcept {
  return value >= sentinel32 ? sentinel32 : static_cast<std::uint32_t>(value);
}

/// Returns the size of the directory's zip64 field without id and size. W3: the field holds only values that do not fit
/// in 32 bits, in this order (APPNOTE 4.5.3). Both sizes are equal, so both fit or neither does.
std::uint64_t central_zip64_payload(const Placement& placement) noexcept {
  const std::uint64_t sizes = placement.size >= sentinel32 ? 2 * zip64_value_size : 0;
  return sizes + (placement.header_offset >= sentinel32 ? zip64_value_size : 0);
}

/// Appends the padding record, which ends where the data begins (W6). `place` left room for id, size and alignment, so
/// the subtraction cannot wrap.
void append_padding_record(std::vector<std::byte>& out, const Placement& placement) {
  const std::uint64_t used = placement.header_offset + out.size();
  const std::uint64_t length = placement.data_offset - used - extra_header_size;
  base::append(out, padding_extra_id);
  base::append(out, static_cast<std::uint16_t>(length));
  base::append(out, static_cast<std::uint16_t>(placement.alignment));
  out.resize(base::in_memory(out.size() + length - 2));
}

void append_central_header(std::vector<std::byte>& out, const PlacedEntry& entry) {
  const Placement& placement = entry.placement;
  const bool zip64 = needs_zip64_central(placement);
  CentralFileHeader header;
  header.version_needed = zip64 || placement.zip64 ? version_zip64 : version_plain;
  header.version_made_by = header.version_needed;
  header.crc32 = entry.crc32;
  header.compressed_size = header.uncompressed_size = low32(placement.size);
  header.file_name_length = static_cast<std::uint16_t>(entry.name.size());
  header.extra_field_length =
      zip64 ? static_cast<std::uint16_t>(extra_header_size + central_zip64_payload(placement)) : std::uint16_t{0};
  header.relative_offset_of_local_header = low32(placement.header_offset);
  append_record(out, header);
  base::append(out, as_bytes(entry.name));
  if (!zip64) return;
  base::append(out, zip64_extra_id);
  base::append(out, static_cast<std::uint16_t>(central_zip64_payload(placement)));
  if (placement.size >= sentinel32) {
    base::append(out, placement.size);
    base::append(out, placement.size);
  }
  if (placement.header_offset >= sentinel32) base::append(out, placement.header_offset);
}

}  // namespace

std::uint64_t entry_alignment(std::uint64_t asked_for, std::uint64_t size) noexcept {
  return std::max(asked_for, size < page_aligned_from ? alignment_minimum : page_alignment);
}

bool is_valid_alignment(std::uint64_t alignment) noexcept {
  return std::has_single_bit(alignment) && alignment >= alignment_minimum && alignment <= alignment_maximum;
}

void check_alignment(std::uint64_t alignment) {
  if (is_valid_alignment(alignment)) return;
  throw Error(Code::usage_argument,
              base::concat("alignment ", alignment, " is not possible; it must be a power of two from ",
                           alignment_minimum, " to ", alignment_maximum));
}

bool needs_zip64_local(std::uint64_t size) noexcept { return size >= sentinel32; }

bool needs_zip64_central(const Placement& placement) noexcept { return central_zip64_payload(placement) != 0; }

Placement place(std::uint64_t offset, std::size_t name_size, std::uint64_t size, std::uint64_t alignment) noexcept {
  const bool zip64 = needs_zip64_local(size);
  const std::uint64_t before = offset + local_file_header_size + name_size + (zip64 ? local_zip64_extra_size : 0);
  return {offset, base::align_up(before + padding_minimum, alignment), size, alignment, zip64};
}

bool is_usual_place(std::uint64_t data_offset, std::uint64_t header_offset, std::size_t name_size,
                    std::uint64_t size) noexcept {
  const std::uint64_t zip64 = needs_zip64_local(size) ? local_zip64_extra_size : 0;
  const std::uint64_t before = header_offset + local_file_header_size + name_size + zip64;
  // P5a: this library; writers that omit the record if the data is aligned without it; writers that always add it.
  const std::uint64_t ours = base::align_up(before + padding_minimum, entry_alignment(alignment_minimum, size));
  return data_offset == ours || data_offset == base::align_up(before, alignment_minimum) ||
         data_offset == base::align_up(before + padding_minimum, alignment_minimum);
}

void expect_within(const Limits& limits, std::uint64_t entries, std::uint64_t directory_size, const Place& place) {
  if (entries > limits.entries) {  // E11, F38
    throw Error(Code::zip_limit_entries, base::concat(entries, " entries are more than the limit of ", limits.entries),
                place);
  }
  if (directory_size > limits.directory_size) {  // E12, F38
    throw Error(Code::zip_limit_directory,
                base::concat("a directory of ", base::human_size(directory_size), " is over the limit of ",
                             base::human_size(limits.directory_size)),
                place);
  }
}

std::uint64_t file_size(std::span<const SizedEntry> entries, std::uint64_t begin, const KeptDirectory& kept,
                        const Limits& limits) {
  std::uint64_t position = begin;
  std::vector<PlacedEntry> placed;
  placed.reserve(entries.size());
  for (const auto& [name, size, alignment] : entries) {
    // Both are compared before they are added, so that `position` stays below 2^62 and `place` cannot wrap.
    if (size > largest_entry || position > largest_entry) {
      throw Error(Code::usage_argument, "entries of this size do not fit in a file", {std::string(name), std::nullopt});
    }
    placed.push_back({std::string(name), place(position, name.size(), size, entry_alignment(alignment, size))});
    position = placed.back().placement.end();
  }
  std::vector<std::byte> directory = directory_headers(placed, kept);
  const std::uint64_t count = kept.entries + placed.size();
  expect_within(limits, count, directory.size(), {"", position});
  append_end_records(directory, count, directory.size(), position, kept.zip64_end);
  return position + directory.size();
}

std::uint64_t file_size(std::span<const std::pair<std::string_view, std::uint64_t>> names_and_sizes,
                        std::uint64_t alignment, std::uint64_t begin, const KeptDirectory& kept, const Limits& limits) {
  std::vector<SizedEntry> entries;
  entries.reserve(names_and_sizes.size());
  for (const auto& [name, size] : names_and_sizes) entries.push_back({name, size, alignment});
  return file_size(entries, begin, kept, limits);
}

std::vector<std::byte> local_header_bytes(const PlacedEntry& entry) {
  const Placement& placement = entry.placement;
  LocalFileHeader header;
  // W1: both headers state the same version, so the local one also depends on the directory's zip64 field.
  header.version_needed = placement.zip64 || needs_zip64_central(placement) ? version_zip64 : version_plain;
  header.crc32 = entry.crc32;
  header.compressed_size = header.uncompressed_size = placement.zip64 ? sentinel32 : low32(placement.size);
  header.file_name_length = static_cast<std::uint16_t>(entry.name.size());
  header.extra_field_length = static_cast<std::uint16_t>(placement.data_offset - placement.header_offset -
                                                         local_file_header_size - entry.name.size());
  std::vector<std::byte> out;
  out.reserve(base::in_memory(placement.data_offset - placement.header_offset));
  append_record(out, header);
  base::append(out, as_bytes(entry.name));
  if (placement.zip64) {
    base::append(out, zip64_extra_id);
    base::append(out, static_cast<std::uint16_t>(local_zip64_payload));
    base::append(out, placement.size);
    base::append(out, placement.size);
  }
  append_padding_record(out, placement);
  return out;
}

std::vector<std::byte> directory_headers(std::span<const PlacedEntry> entries, const KeptDirectory& kept) {
  std::vector<std::byte> out(kept.headers.begin(), kept.headers.end());
  for (const PlacedEntry& entry : entries) append_central_header(out, entry);
  return out;
}

void append_end_records(std::vector<std::byte>& out, std::uint64_t entries, std::uint64_t size, std::uint64_t offset,
                        bool zip64) {
  EndRecord end;
  if (zip64 || entries >= sentinel16 || size >= sentinel32 || offset >= sentinel32) {
    Zip64EndRecord record;
    record.entries_on_this_disk = record.entries = entries;
    record.directory_size = size;
    record.directory_offset = offset;
    append_record(out, record);
    Zip64Locator locator;
    locator.offset_of_end_record = offset + size;
    append_record(out, locator);
    // W4: all four become sentinels, because readers differ in which of them makes them look for the zip64 record.
    end.entries_on_this_disk = end.entries = sentinel16;
    end.directory_size = end.directory_offset = sentinel32;
  } else {
    end.entries_on_this_disk = end.entries = static_cast<std::uint16_t>(entries);
    end.directory_size = static_cast<std::uint32_t>(size);
    end.directory_offset = static_cast<std::uint32_t>(offset);
  }
  append_record(out, end);
}

}  // namespace onnxar::zip
