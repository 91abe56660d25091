// Zip archives written byte by byte, for tests: conforming ones, and ones with exactly one thing wrong.
//
// Independent of the code under test: includes nothing of it, and defines signatures, constants and the CRC again.
// A `ZipBuilder` is a plain value. By default it builds a conforming archive, as spec/writing.md requires. The fields
// of its records can be replaced separately. Other fields do not follow the replaced one unless its comment says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/wire_builder.h"

namespace onnxar::testing {

namespace signature {
inline constexpr std::uint32_t local = 0x04034b50;
inline constexpr std::uint32_t central = 0x02014b50;
inline constexpr std::uint32_t zip64_end = 0x06064b50;
inline constexpr std::uint32_t zip64_locator = 0x07064b50;
inline constexpr std::uint32_t end = 0x06054b50;
inline constexpr std::uint32_t descriptor = 0x08074b50;
}  // namespace signature

/// The value of a 32-bit field whose real value is in the zip64 record.
inline constexpr std::uint64_t sentinel = 0xFFFFFFFF;

inline constexpr std::size_t mebibyte = std::size_t{1} << 20U;

/// The name of the model's entry.
inline constexpr std::string_view model_entry = "__MODEL_PROTO";

/// The CRC-32 of zip, computed bit by bit: slow and short.
std::uint32_t bitwise_crc32(std::span<const std::byte> bytes);

/// A field that has the conforming value unless a test sets one.
template <typename T>
using Field = std::optional<T>;

/// The fields that local and central headers share.
struct HeaderFields {
  Field<std::uint32_t> signature = {};
  Field<std::uint16_t> version_needed = {};
  Field<std::uint16_t> flags = {};
  Field<std::uint16_t> method = {};
  Field<std::uint16_t> time = {};
  Field<std::uint16_t> date = {};
  Field<std::uint32_t> crc = {};
  /// The real size. From 0xFFFFFFFF on, the header states it in a zip64 record.
  Field<std::uint64_t> csize = {};
  Field<std::uint64_t> usize = {};
  /// The 32-bit field, independent of the zip64 record.
  Field<std::uint32_t> csize32 = {};
  Field<std::uint32_t> usize32 = {};
  Field<std::string> name = {};
  /// The length fields, independent of the bytes that follow.
  Field<std::uint16_t> name_length = {};
  Field<std::uint16_t> extra_length = {};
  /// The whole zip64 extra record with id and length. An empty value omits it. The 32-bit fields do not change.
  Field<Blob> zip64_extra = {};
  /// The whole extra field: no zip64 record, no padding, no alignment.
  Field<Blob> extra = {};
};

struct LocalFields : HeaderFields {
  /// The padding record with id and length, instead of the one that aligns the data.
  Field<Blob> padding = {};
  /// The alignment that the padding record states.
  Field<std::uint16_t> recorded_alignment = {};
  /// The number of padding bytes beyond the minimum. A multiple of the alignment keeps the data aligned.
  std::size_t more_padding = 0;
};

struct CentralFields : HeaderFields {
  Field<std::uint16_t> version_made_by = {};
  Field<std::uint16_t> disk = {};
  Field<std::uint16_t> internal_attributes = {};
  Field<std::uint32_t> external_attributes = {};
  /// The real offset, and the 32-bit field, as for the sizes.
  Field<std::uint64_t> header_offset = {};
  Field<std::uint32_t> header_offset32 = {};
  std::string comment = {};
  Field<std::uint16_t> comment_length = {};
};

struct ZipEntry {
  std::string name = {};
  Blob data = {};
  LocalFields local = {};
  CentralFields central = {};
  /// The alignment of the data. Default: the builder's rule.
  Field<std::size_t> alignment = {};
  /// States the sizes (both headers) or the offset (central header) in zip64 fields although they fit in 32 bits.
  bool force_zip64_sizes = false;
  bool force_zip64_offset = false;
  /// Whether local header and data are written, and whether the directory lists the entry.
  bool written = true;
  bool listed = true;
  Blob gap_before = {};
  Blob gap_after = {};

  /// Changes the same field in both headers: `entry.in_both([](auto& header) { header.flags = 1; })`.
  template <typename Change>
  ZipEntry& in_both(Change change) {
    change(static_cast<HeaderFields&>(local));
    change(static_cast<HeaderFields&>(central));
    return *this;
  }
};

struct EndFields {
  Field<std::uint16_t> disk = {};
  Field<std::uint16_t> entries_on_disk = {};
  Field<std::uint16_t> entries = {};
  Field<std::uint16_t> comment_length = {};
};

struct Zip64EndFields {
  Field<std::uint32_t> signature = {};
  Field<std::uint16_t> version_needed = {};
  Field<std::uint64_t> entries_on_disk = {};
  Field<std::uint64_t> entries = {};
};

struct Zip64LocatorFields {
  Field<std::uint64_t> record_offset = {};
};

/// The offsets of an entry. Parts that were not written or not listed have `nowhere`.
struct PlacedEntry {
  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

  std::string name = {};
  std::size_t header_offset = nowhere;
  std::size_t extra_offset = nowhere;
  /// The offset of the padding record's id. The record is the last in the extra field.
  std::size_t padding_offset = nowhere;
  std::size_t data_offset = nowhere;
  std::size_t data_size = 0;
  std::size_t central_offset = nowhere;
  std::size_t central_size = 0;

  [[nodiscard]] bool listed() const { return central_offset != nowhere; }
};

/// An archive and the offsets of its records.
struct Built {
  Blob bytes = {};
  /// Entries kept from an earlier state, then the builder's own, each in their order.
  std::vector<PlacedEntry> entries = {};
  std::size_t directory_offset = 0;
  std::size_t directory_size = 0;
  std::optional<std::size_t> zip64_end_offset = {};
  std::optional<std::size_t> zip64_locator_offset = {};
  std::size_t end_offset = PlacedEntry::nowhere;

  /// Returns the first entry with this name. Throws std::out_of_range if none has it.
  [[nodiscard]] const PlacedEntry& entry(std::string_view name) const;
  [[nodiscard]] Blob data_of(std::string_view name) const;
};

struct ZipBuilder {
  std::vector<ZipEntry> entries = {};
  /// N of the rule: data of less than 1 MiB is aligned to N, other data to at least 4096.
  std::size_t alignment = 64;

  Blob prefix = {};
  /// Subtracted from every recorded offset. With the size of the prefix, the result is a self-extracting archive.
  std::uint64_t offset_base = 0;
  /// Which entries the directory lists, and in which order: indices into kept entries, then own ones. An
  /// entry may be listed twice. Default: all that are `listed`.
  std::optional<std::vector<std::size_t>> directory_order = {};
  Blob gap_before_directory = {};

  /// Zip64 end record and locator: where needed, or forced. With them, the end record holds sentinels only.
  bool force_zip64 = false;
  /// Writes or omits a single record.
  Field<bool> write_zip64_end = {};
  Field<bool> write_zip64_locator = {};
  Zip64EndFields zip64_end = {};
  Zip64LocatorFields zip64_locator = {};

  EndFields end = {};
  std::string comment = {};
  Blob trailing = {};

  /// The previous state in the same file. Its bytes come first. Its entries except the model stay listed, with
  /// unchanged central headers. Set by `edit_builder`.
  std::shared_ptr<const Built> base = nullptr;

  [[nodiscard]] Blob build() const { return build_placed().bytes; }
  [[nodiscard]] Built build_placed() const;
  /// Returns the first entry with this name. Throws std::out_of_range if none has it.
  ZipEntry& entry(std::string_view name);
};

ZipEntry zip_entry(std::string_view name, Blob data);
/// An entry compressed with method 8, in stored blocks, which any inflater converts back to `data`.
ZipEntry deflated_entry(std::string_view name, const Blob& data);
/// An entry whose sizes and CRC are in a data descriptor after the data, as streaming writers do. Sets flag bit 3.
ZipEntry streamed_entry(std::string_view name, Blob data, bool with_signature = true);

/// Changes an entry to the form of common zip tools: no padding, a newer version, a time, attributes.
ZipEntry plain_entry(ZipEntry entry);

/// One extra record: id, length, content.
Blob extra_record(std::uint16_t id, std::span<const std::byte> content);
/// The zip64 extra record with these 64-bit fields.
Blob zip64_record(const std::vector<std::uint64_t>& values);
Blob zeros(std::size_t size);

/// The smallest archive that passes every check without a remark: a FLOAT tensor `w` of 256 elements, which
/// the model names as external data and gives out as `y`.
ZipBuilder smallest_builder();
/// The smallest archive with a different payload, whose size is a multiple of 4.
ZipBuilder smallest_builder(Blob payload);
Built smallest_archive();
/// The model of that archive, for a tensor of `elements` elements. `producer` distinguishes edited models.
Blob smallest_model(std::size_t elements = 256, std::string_view producer = "onnxar.test");

/// An edit: appends `extra` and the new model, then a directory that lists the kept entries at their old
/// places, the new ones and the model, then a new end record. The bytes of `base` stay as they are.
ZipBuilder edit_builder(const Built& base, Blob model, std::vector<ZipEntry> extra = {});
Built append_edit(const Built& base, Blob model, std::vector<ZipEntry> extra = {});

// Damage. These functions throw std::out_of_range if they would touch bytes that do not exist. Otherwise a test could
// pass without damage.
void flip_bit(Blob& bytes, std::size_t offset, unsigned bit = 0);
/// Changes five bytes so that the CRC-32 of all stays: by the generator polynomial, whose highest power comes first.
Blob with_the_same_crc(Blob bytes, std::size_t place);
void put_u16(Blob& bytes, std::size_t offset, std::uint16_t value);
void put_u32(Blob& bytes, std::size_t offset, std::uint32_t value);
void put_u64(Blob& bytes, std::size_t offset, std::uint64_t value);
void put_bytes(Blob& bytes, std::size_t offset, std::span<const std::byte> value);
/// Keeps the first `size` bytes.
void truncate(Blob& bytes, std::size_t size);
void insert(Blob& bytes, std::size_t offset, std::span<const std::byte> value);
void erase(Blob& bytes, std::size_t offset, std::size_t count);

[[nodiscard]] std::uint16_t u16_at(std::span<const std::byte> bytes, std::size_t offset);
[[nodiscard]] std::uint32_t u32_at(std::span<const std::byte> bytes, std::size_t offset);
[[nodiscard]] std::uint64_t u64_at(std::span<const std::byte> bytes, std::size_t offset);
/// Returns the first offset, at or after `from`, of the four bytes of `value`.
[[nodiscard]] std::optional<std::size_t> find_signature(std::span<const std::byte> bytes, std::uint32_t value,
                                                        std::size_t from = 0);

}  // namespace onnxar::testing
