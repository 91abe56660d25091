// Writes zip archives byte by byte from the records that a test describes.
#include "support/zip_builder.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "support/zip_bytes.h"
#include "support/zip_directory.h"

namespace onnxar::testing {
namespace {

constexpr std::uint16_t plain_version = 10;
constexpr std::uint16_t zip64_version = 45;
constexpr std::uint16_t first_dos_date = 0x0021;
constexpr std::uint16_t zip64_extra_id = 0x0001;
constexpr std::uint16_t padding_extra_id = 0xD935;
constexpr std::uint16_t sentinel16 = 0xFFFF;
constexpr std::uint32_t sentinel32 = 0xFFFFFFFF;
constexpr std::size_t record_head = 4;  // id and length of an extra record
constexpr std::size_t smallest_padding = record_head + 2;
constexpr std::size_t large_data = std::size_t{1} << 20;
constexpr std::size_t page = 4096;

bool fits32(std::uint64_t value) { return value < sentinel32; }

// The values of an entry before any field is replaced, and what both headers derive from them.
struct Facts {
  std::uint32_t crc = 0;
  std::uint16_t flags = 0;
  std::uint16_t version = plain_version;
};

// The sizes that a header means, and which of them go through zip64. A local header has both or none.
struct Sizes {
  std::uint64_t csize;
  std::uint64_t usize;
  bool zip64_csize;
  bool zip64_usize;
};

Sizes sizes_of(const ZipEntry& entry, const HeaderFields& fields) {
  const std::uint64_t csize = fields.csize.value_or(entry.data.size());
  const std::uint64_t usize = fields.usize.value_or(entry.data.size());
  const bool force = entry.force_zip64_sizes;
  return {csize, usize, force || !fits32(csize), force || !fits32(usize)};
}

Sizes local_sizes(const ZipEntry& entry) {
  Sizes sizes = sizes_of(entry, entry.local);
  sizes.zip64_csize = sizes.zip64_usize = sizes.zip64_csize || sizes.zip64_usize;
  return sizes;
}

std::uint64_t recorded_offset(const ZipEntry& entry, std::uint64_t header_offset, std::uint64_t base) {
  return entry.central.header_offset.value_or(header_offset - base);
}

bool offset_needs_zip64(const ZipEntry& entry, std::uint64_t recorded) {
  return entry.force_zip64_offset || !fits32(recorded);
}

Facts facts_of(const ZipEntry& entry, std::uint64_t recorded) {
  const Sizes local = local_sizes(entry);
  const Sizes central = sizes_of(entry, entry.central);
  const bool zip64 =
      local.zip64_usize || central.zip64_usize || central.zip64_csize || offset_needs_zip64(entry, recorded);
  Facts facts;
  facts.crc = bitwise_crc32(entry.data);
  facts.flags = is_ascii(entry.name) ? std::uint16_t{0} : utf8_flag;
  facts.version = zip64 ? zip64_version : plain_version;
  return facts;
}

// From `version needed` to `extra length`: the same fields in the same order in both headers.
void put_common(Blob& out, const HeaderFields& fields, const Facts& facts, const Sizes& sizes, const std::string& name,
                const Blob& extra) {
  put16(out, fields.version_needed.value_or(facts.version));
  put16(out, fields.flags.value_or(facts.flags));
  put16(out, fields.method.value_or(std::uint16_t{0}));
  put16(out, fields.time.value_or(std::uint16_t{0}));
  put16(out, fields.date.value_or(first_dos_date));
  put32(out, fields.crc.value_or(facts.crc));
  put32(out, fields.csize32.value_or(sizes.zip64_csize ? sentinel32 : low32(sizes.csize)));
  put32(out, fields.usize32.value_or(sizes.zip64_usize ? sentinel32 : low32(sizes.usize)));
  put16(out, fields.name_length.value_or(low16(name.size())));
  put16(out, fields.extra_length.value_or(low16(extra.size())));
}

// The zip64 record that the values ask for, unless the test gave one; empty when there is none.
Blob zip64_part(const HeaderFields& fields, const std::vector<std::uint64_t>& values) {
  if (fields.zip64_extra) return *fields.zip64_extra;
  return values.empty() ? Blob{} : zip64_record(values);
}

// The minimal padding record that brings the byte after it, now at `position`, to a multiple of `alignment`.
Blob padding_record(std::size_t position, std::size_t alignment, const LocalFields& local) {
  std::size_t size = (alignment - position % alignment) % alignment;
  while (size < smallest_padding) size += alignment;
  size += local.more_padding;
  if (size - record_head > sentinel16) throw std::invalid_argument("padding does not fit an extra field");
  Blob content;
  put16(content, local.recorded_alignment.value_or(low16(alignment)));
  content.resize(size - record_head);
  return extra_record(padding_extra_id, content);
}

// Everything between the archive's start and its end, written from front to back.
class Writer {
 public:
  explicit Writer(const ZipBuilder& plan) : plan_(plan) {}

  Built write() {
    begin();
    for (const ZipEntry& entry : plan_.entries) write_entry(entry);
    write_directory();
    write_end_records();
    put_all(bytes(), plan_.trailing);
    return std::move(built_);
  }

 private:
  Blob& bytes() { return built_.bytes; }
  [[nodiscard]] std::size_t position() const { return built_.bytes.size(); }

  void begin();
  void write_entry(const ZipEntry& entry);
  void write_local_header(const ZipEntry& entry, PlacedEntry& place);
  [[nodiscard]] std::size_t alignment_of(const ZipEntry& entry) const;
  void write_directory();
  [[nodiscard]] std::vector<std::size_t> listing() const;
  void write_central_header(std::size_t index);
  [[nodiscard]] Blob central_header(const ZipEntry& entry, const PlacedEntry& place) const;
  void write_end_records();
  void write_zip64_end();
  void write_zip64_locator();
  void write_end(bool zip64);
  [[nodiscard]] bool needs_zip64() const;
  [[nodiscard]] std::uint64_t recorded_directory_offset() const { return built_.directory_offset - plan_.offset_base; }

  const ZipBuilder& plan_;
  Built built_;
  std::vector<Blob> kept_headers_;
  std::size_t listed_ = 0;
};

void Writer::begin() {
  if (plan_.base == nullptr) {
    put_all(bytes(), plan_.prefix);
    return;
  }
  bytes() = plan_.base->bytes;
  for (const PlacedEntry& old : plan_.base->entries) {
    if (old.name == model_entry || !old.listed()) continue;
    const auto first = plan_.base->bytes.begin() + static_cast<std::ptrdiff_t>(old.central_offset);
    kept_headers_.emplace_back(first, first + static_cast<std::ptrdiff_t>(old.central_size));
    built_.entries.push_back(old);
    built_.entries.back().central_offset = PlacedEntry::nowhere;
  }
  put_all(bytes(), plan_.prefix);
}

void Writer::write_entry(const ZipEntry& entry) {
  PlacedEntry place;
  place.name = entry.name;
  put_all(bytes(), entry.gap_before);
  place.header_offset = position();
  if (entry.written) {
    write_local_header(entry, place);
    place.data_offset = position();
    place.data_size = entry.data.size();
    put_all(bytes(), entry.data);
  }
  put_all(bytes(), entry.gap_after);
  built_.entries.push_back(std::move(place));
}

std::size_t Writer::alignment_of(const ZipEntry& entry) const {
  if (entry.alignment) return *entry.alignment;
  return entry.data.size() < large_data ? plan_.alignment : std::max(plan_.alignment, page);
}

void Writer::write_local_header(const ZipEntry& entry, PlacedEntry& place) {
  constexpr std::size_t fixed_size = 30;
  const LocalFields& local = entry.local;
  const Sizes sizes = local_sizes(entry);
  const std::string name = local.name.value_or(entry.name);
  place.extra_offset = place.header_offset + fixed_size + name.size();

  std::vector<std::uint64_t> zip64_values;
  if (sizes.zip64_usize) zip64_values = {sizes.usize, sizes.csize};
  Blob extra = zip64_part(local, zip64_values);
  if (local.extra) {
    extra = *local.extra;
  } else {
    place.padding_offset = place.extra_offset + extra.size();
    put_all(extra, local.padding ? *local.padding : padding_record(place.padding_offset, alignment_of(entry), local));
  }

  put32(bytes(), local.signature.value_or(signature::local));
  const Facts facts = facts_of(entry, recorded_offset(entry, place.header_offset, plan_.offset_base));
  put_common(bytes(), local, facts, sizes, name, extra);
  put_all(bytes(), name);
  put_all(bytes(), extra);
}

std::vector<std::size_t> Writer::listing() const {
  if (plan_.directory_order) return *plan_.directory_order;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < built_.entries.size(); ++i) {
    const bool kept = i < kept_headers_.size();
    if (kept || plan_.entries[i - kept_headers_.size()].listed) order.push_back(i);
  }
  return order;
}

void Writer::write_directory() {
  put_all(bytes(), plan_.gap_before_directory);
  built_.directory_offset = position();
  const std::vector<std::size_t> order = listing();
  for (const std::size_t index : order) write_central_header(index);
  listed_ = order.size();
  built_.directory_size = position() - built_.directory_offset;
}

void Writer::write_central_header(std::size_t index) {
  PlacedEntry& place = built_.entries.at(index);
  const Blob header = index < kept_headers_.size() ? kept_headers_[index]
                                                   : central_header(plan_.entries[index - kept_headers_.size()], place);
  place.central_offset = position();
  place.central_size = header.size();
  put_all(bytes(), header);
}

Blob Writer::central_header(const ZipEntry& entry, const PlacedEntry& place) const {
  const CentralFields& central = entry.central;
  const Sizes sizes = sizes_of(entry, central);
  const std::uint64_t offset = recorded_offset(entry, place.header_offset, plan_.offset_base);
  const bool zip64_offset = offset_needs_zip64(entry, offset);
  const Facts facts = facts_of(entry, offset);
  const std::string name = central.name.value_or(entry.name);

  std::vector<std::uint64_t> zip64_values;
  if (sizes.zip64_usize) zip64_values.push_back(sizes.usize);
  if (sizes.zip64_csize) zip64_values.push_back(sizes.csize);
  if (zip64_offset) zip64_values.push_back(offset);
  Blob extra = zip64_part(central, zip64_values);
  if (central.extra) extra = *central.extra;

  Blob out;
  put32(out, central.signature.value_or(signature::central));
  put16(out, central.version_made_by.value_or(is_ascii(name) ? facts.version : low16(0x0300U | facts.version)));
  put_common(out, central, facts, sizes, name, extra);
  put16(out, central.comment_length.value_or(low16(central.comment.size())));
  put16(out, central.disk.value_or(std::uint16_t{0}));
  put16(out, central.internal_attributes.value_or(std::uint16_t{0}));
  put32(out, central.external_attributes.value_or(is_ascii(name) ? 0U : 0100644U << 16U));
  put32(out, central.header_offset32.value_or(zip64_offset ? sentinel32 : low32(offset)));
  put_all(out, name);
  put_all(out, extra);
  put_all(out, central.comment);
  return out;
}

bool Writer::needs_zip64() const {
  return plan_.force_zip64 || listed_ >= sentinel16 || !fits32(built_.directory_size) ||
         !fits32(recorded_directory_offset());
}

void Writer::write_end_records() {
  const bool zip64 = needs_zip64();
  if (plan_.write_zip64_end.value_or(zip64)) write_zip64_end();
  if (plan_.write_zip64_locator.value_or(zip64)) write_zip64_locator();
  write_end(zip64);
}

void Writer::write_zip64_end() {
  constexpr std::uint64_t size_after_size_field = 44;
  const Zip64EndFields& fields = plan_.zip64_end;
  built_.zip64_end_offset = position();
  put32(bytes(), fields.signature.value_or(signature::zip64_end));
  put64(bytes(), size_after_size_field);
  put16(bytes(), zip64_version);
  put16(bytes(), fields.version_needed.value_or(zip64_version));
  put32(bytes(), 0);  // the disks of this record and of the directory
  put32(bytes(), 0);
  put64(bytes(), fields.entries_on_disk.value_or(listed_));
  put64(bytes(), fields.entries.value_or(listed_));
  put64(bytes(), built_.directory_size);
  put64(bytes(), recorded_directory_offset());
}

void Writer::write_zip64_locator() {
  const std::size_t target = built_.zip64_end_offset.value_or(position());
  built_.zip64_locator_offset = position();
  put32(bytes(), signature::zip64_locator);
  put32(bytes(), 0);  // the disk
  put64(bytes(), plan_.zip64_locator.record_offset.value_or(target - plan_.offset_base));
  put32(bytes(), 1);  // the number of disks
}

void Writer::write_end(bool zip64) {
  const EndFields& fields = plan_.end;
  const std::uint16_t count = zip64 ? sentinel16 : low16(listed_);
  built_.end_offset = position();
  put32(bytes(), signature::end);
  put16(bytes(), fields.disk.value_or(std::uint16_t{0}));
  put16(bytes(), 0);  // the disk of the directory
  put16(bytes(), fields.entries_on_disk.value_or(count));
  put16(bytes(), fields.entries.value_or(count));
  put32(bytes(), zip64 ? sentinel32 : low32(built_.directory_size));
  put32(bytes(), zip64 ? sentinel32 : low32(recorded_directory_offset()));
  put16(bytes(), fields.comment_length.value_or(low16(plan_.comment.size())));
  put_all(bytes(), plan_.comment);
}

}  // namespace

std::uint32_t bitwise_crc32(std::span<const std::byte> bytes) {
  constexpr std::uint32_t reflected_polynomial = 0xEDB88320;
  std::uint32_t crc = 0xFFFFFFFF;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? reflected_polynomial : 0U);
  }
  return ~crc;
}

const PlacedEntry& Built::entry(std::string_view name) const {
  for (const PlacedEntry& place : entries) {
    if (place.name == name) return place;
  }
  throw std::out_of_range("no entry " + std::string(name));
}

Blob Built::data_of(std::string_view name) const {
  const PlacedEntry& place = entry(name);
  demand(place.data_offset <= bytes.size() && place.data_size <= bytes.size() - place.data_offset);
  const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(place.data_offset);
  return {first, first + static_cast<std::ptrdiff_t>(place.data_size)};
}

Built ZipBuilder::build_placed() const {
  Built built = Writer(*this).write();
  note_zip("built", built.bytes);
  return built;
}

ZipEntry& ZipBuilder::entry(std::string_view name) {
  for (ZipEntry& candidate : entries) {
    if (candidate.name == name) return candidate;
  }
  throw std::out_of_range("no entry " + std::string(name));
}

Blob extra_record(std::uint16_t id, std::span<const std::byte> content) {
  Blob out;
  put16(out, id);
  put16(out, low16(content.size()));
  put_all(out, content);
  return out;
}

Blob zip64_record(const std::vector<std::uint64_t>& values) {
  Blob content;
  for (const std::uint64_t value : values) put64(content, value);
  return extra_record(zip64_extra_id, content);
}

Blob zeros(std::size_t size) { return Blob(size); }

}  // namespace onnxar::testing
