// Where everything goes: against brute force and against the bytes of an independent builder.
#include "zip/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/zip_builder.h"
#include "zip/reading.h"

namespace onnxar::testing {
namespace {

constexpr std::uint64_t gibibyte = 1ULL << 30U;

/// The first place that leaves room for a padding record of at least 6 bytes and is a multiple of the alignment.
std::uint64_t first_aligned(std::uint64_t offset, std::uint64_t alignment) {
  offset += 6;
  while (offset % alignment != 0) ++offset;
  return offset;
}

TEST(Alignment, PowersOfTwoFrom64To32768AreValid) {
  for (std::uint64_t value = 0; value <= 70000; ++value) {
    const bool valid = value == 64 || value == 128 || value == 256 || value == 512 || value == 1024 || value == 2048 ||
                       value == 4096 || value == 8192 || value == 16384 || value == 32768;
    EXPECT_EQ(zip::is_valid_alignment(value), valid) << value;
  }
  EXPECT_FALSE(zip::is_valid_alignment(1ULL << 32U));
}

TEST(Alignment, EntriesFrom1MiBOnBeginOnAPage) {
  for (const std::uint64_t asked : {64U, 256U, 4096U, 32768U}) {
    EXPECT_EQ(zip::entry_alignment(asked, 0), asked);
    EXPECT_EQ(zip::entry_alignment(asked, mebibyte - 1), asked);
    EXPECT_EQ(zip::entry_alignment(asked, mebibyte), asked < 4096 ? 4096 : asked);
    EXPECT_EQ(zip::entry_alignment(asked, 1ULL << 40U), asked < 4096 ? 4096 : asked);
  }
}

TEST(Place, IsTheFirstPlaceThatFits) {
  for (const std::uint64_t alignment : {64U, 128U, 4096U, 32768U}) {
    for (const std::uint64_t offset : {0U, 1U, 63U, 64U, 100U, 4096U, 32767U, 1000003U}) {
      for (std::size_t name = 1; name <= 200; ++name) {
        for (const std::uint64_t size : {std::uint64_t{5}, sentinel}) {
          const zip::Placement placed = zip::place(offset, name, size, alignment);
          ASSERT_EQ(placed.data_offset, first_aligned(offset + 30 + name + (size == sentinel ? 20 : 0), alignment));
          ASSERT_EQ(placed.header_offset, offset);
          ASSERT_EQ(placed.end(), placed.data_offset + size);
        }
      }
    }
  }
}

TEST(Place, PaddingIsFrom6BytesToTheAlignmentAnd5) {
  std::uint64_t least = sentinel;
  std::uint64_t most = 0;
  for (std::uint64_t offset = 0; offset < 128; ++offset) {
    const std::uint64_t padding = zip::place(offset, 10, 1, 64).data_offset - offset - 40;
    least = std::min(least, padding);
    most = std::max(most, padding);
  }
  EXPECT_EQ(least, 6U);
  EXPECT_EQ(most, 69U);
}

TEST(Place, LocalZip64BeginsAtTheSentinel) {
  EXPECT_FALSE(zip::place(0, 1, sentinel - 1, 64).zip64);
  EXPECT_TRUE(zip::place(0, 1, sentinel, 64).zip64);
  EXPECT_TRUE(zip::place(0, 1, sentinel + 1, 64).zip64);
  EXPECT_FALSE(zip::place(1ULL << 40U, 1, 1, 64).zip64);  // a local header has no offset
  EXPECT_EQ(zip::place(0, 1, sentinel, 64).data_offset, 64U);
  EXPECT_EQ(zip::place(0, 20, sentinel, 64).data_offset, 128U);
}

TEST(UsualPlace, IsOursOrTheNextMultipleOf64) {
  for (const std::uint64_t size :
       {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{mebibyte} - 1, std::uint64_t{mebibyte},
        std::uint64_t{sentinel} - 1, std::uint64_t{sentinel}, 4 * gibibyte}) {
    for (const std::uint64_t offset : {0U, 1U, 64U, 4000U, 1000003U}) {
      for (std::size_t name = 1; name <= 100; name += 3) {
        const std::uint64_t end = offset + 30 + name + (size >= sentinel ? 20 : 0);
        std::uint64_t without_record = end;
        while (without_record % 64 != 0) ++without_record;
        const std::vector<std::uint64_t> usual = {first_aligned(end, size < mebibyte ? 64 : 4096), without_record,
                                                  first_aligned(end, 64)};
        for (std::uint64_t place = end; place < end + 4200; ++place) {
          const bool expected = std::ranges::find(usual, place) != usual.end();
          ASSERT_EQ(zip::is_usual_place(place, offset, name, size), expected) << place;
        }
      }
    }
  }
}

TEST(Place, LargeOffsetsDoNotWrap) {
  const std::uint64_t far = 1ULL << 61U;
  const zip::Placement placed = zip::place(far, 1000, far, 32768);
  EXPECT_EQ(placed.data_offset, far + 32768);
  EXPECT_EQ(placed.end(), 2 * far + 32768);
}

TEST(CentralZip64, HoldsJustWhatDoesNotFit) {
  const auto bytes_of = [](std::uint64_t size, std::uint64_t offset) {
    zip::PlacedEntry entry;
    entry.name = "7 bytes";
    entry.placement.size = size;
    entry.placement.header_offset = offset;
    const std::size_t header = zip::directory_headers(std::array{entry}).size();
    EXPECT_EQ(zip::needs_zip64_central(entry.placement), header > 53);
    return header - 53;
  };
  EXPECT_EQ(bytes_of(sentinel - 1, sentinel - 1), 0U);
  EXPECT_EQ(bytes_of(sentinel, 0), 20U);
  EXPECT_EQ(bytes_of(sentinel + 1, 0), 20U);
  EXPECT_EQ(bytes_of(0, sentinel), 12U);
  EXPECT_EQ(bytes_of(1, sentinel + 1), 12U);
  EXPECT_EQ(bytes_of(sentinel, sentinel), 28U);
}

TEST(FileSize, CountsEveryEntryAtItsOwnAlignment) {
  const std::uint64_t headers = 3 * (46 + 1) + 22;
  const std::vector<zip::SizedEntry> entries = {{"a", 70, 64}, {"b", 70, 512}, {"c", mebibyte, 64}};
  const std::uint64_t b = first_aligned(64 + 70 + 30 + 1, 512);
  const std::uint64_t c = first_aligned(b + 70 + 30 + 1, 4096);  // a large entry begins on a page
  EXPECT_EQ(zip::file_size(entries), c + mebibyte + headers);
  const std::vector<std::pair<std::string_view, std::uint64_t>> same = {{"a", 70}, {"b", 70}};
  EXPECT_EQ(zip::file_size(same, 512), zip::file_size(std::vector<zip::SizedEntry>{{"a", 70, 512}, {"b", 70, 512}}));
}

TEST(FileSize, FirstEntryBeginsAtZeroByDefault) {
  const std::string name(28, 'n');  // with it, 64 is the first place for the data
  EXPECT_EQ(zip::file_size(std::vector<zip::SizedEntry>{{name, 10, 64}}), 64U + 10 + 46 + 28 + 22);
  EXPECT_EQ(zip::file_size(std::vector<zip::SizedEntry>{{name, 10, 64}}, 1), 128U + 10 + 46 + 28 + 22);
  const std::vector<std::pair<std::string_view, std::uint64_t>> same = {{name, 10}};
  EXPECT_EQ(zip::file_size(same, 64), 64U + 10 + 46 + 28 + 22);
}

TEST(FileSize, OfMoreThanReadersTakeIsRefused) {
  const std::vector<zip::SizedEntry> two = {{"a", 1, 64}, {"b", 1, 64}};
  const auto refused = [&](const zip::Limits& limits) {
    return code_of([&] { return zip::file_size(two, 0, {}, limits); });
  };
  EXPECT_EQ(refused({.entries = 1}), Code::zip_limit_entries);
  EXPECT_EQ(refused({.directory_size = std::uint64_t{2} * 47 - 1}), Code::zip_limit_directory);
  EXPECT_EQ(refused({.entries = 2, .directory_size = std::uint64_t{2} * 47}), std::nullopt);
}

TEST(FileSize, EntriesAndOffsetsAreLimitedTo2To60) {
  constexpr std::uint64_t limit = 1ULL << 60U;
  const auto code_of_sizes = [](std::uint64_t first, std::uint64_t second) {
    const std::vector<zip::SizedEntry> entries = {{"a", first, 64}, {"b", second, 64}};
    return code_of([&] { return zip::file_size(entries); });
  };
  EXPECT_EQ(code_of_sizes(10, limit), std::nullopt);
  EXPECT_EQ(code_of_sizes(10, limit + 1), Code::usage_argument);
  const std::uint64_t header = 4096;  // a large entry begins on a page
  EXPECT_EQ(code_of_sizes(limit - header, 10), std::nullopt);
  EXPECT_EQ(code_of_sizes(limit - header + 1, 10), Code::usage_argument);
}

TEST(EndRecords, GrowToZip64AtEachThreshold) {
  const auto size_of = [](std::uint64_t entries, std::uint64_t directory_size, std::uint64_t directory_offset) {
    std::vector<std::byte> out;
    zip::append_end_records(out, entries, directory_size, directory_offset);
    return out.size();
  };
  EXPECT_EQ(size_of(65534, sentinel - 1, sentinel - 1), 22U);
  EXPECT_EQ(size_of(65535, 0, 0), 98U);
  EXPECT_EQ(size_of(1, sentinel, 0), 98U);
  EXPECT_EQ(size_of(1, 0, sentinel), 98U);
}

/// What the builder has placed, as the code under test would say it.
zip::PlacedEntry as_placed(const ZipEntry& entry, const PlacedEntry& place, std::uint64_t shift) {
  zip::PlacedEntry placed;
  placed.name = entry.name;
  placed.crc32 = bitwise_crc32(entry.data);
  placed.placement.header_offset = place.header_offset + shift;
  placed.placement.data_offset = place.data_offset + shift;
  placed.placement.size = entry.central.usize.value_or(entry.data.size());
  placed.placement.alignment = entry.data.size() < mebibyte ? 64 : 4096;
  placed.placement.zip64 = placed.placement.size >= sentinel;
  return placed;
}

/// Local headers, directory and end records equal the builder's, for an archive that begins at `shift`.
void expect_builders_bytes(ZipBuilder builder, std::uint64_t shift = 0) {
  builder.offset_base = 0 - shift;
  const Built built = builder.build_placed();
  std::vector<zip::PlacedEntry> entries;
  for (std::size_t i = 0; i < builder.entries.size(); ++i) {
    entries.push_back(as_placed(builder.entries[i], built.entries[i], shift));
    const PlacedEntry& place = built.entries[i];
    EXPECT_EQ(zip::local_header_bytes(entries.back()), part(built.bytes, place.header_offset, place.data_offset));
  }
  const std::uint64_t directory = built.directory_offset + shift;
  std::vector<std::byte> bytes = zip::directory_headers(entries);
  EXPECT_EQ(bytes.size(), built.directory_size);
  zip::append_end_records(bytes, entries.size(), bytes.size(), directory);
  EXPECT_TRUE(bytes == part(built.bytes, built.directory_offset, built.bytes.size()));
}

void mean_size(ZipBuilder& builder, std::uint64_t size) {
  builder.entry("w").in_both([size](HeaderFields& header) { header.csize = header.usize = size; });
}

TEST(HeaderBytes, EqualTheBuildersForSmallArchives) {
  expect_builders_bytes(smallest_builder());
  for (std::size_t length = 1; length <= 140; ++length) {
    ZipBuilder builder = smallest_builder();
    builder.entries[0].name = std::string(length, 'n');
    expect_builders_bytes(builder);
  }
}

TEST(HeaderBytes, EqualTheBuildersForFoldersAndEmptyEntries) {
  ZipBuilder builder = smallest_builder();
  builder.entries.insert(builder.entries.begin(), zip_entry("a b.txt", {}));
  builder.entries.insert(builder.entries.begin(), zip_entry("folder/large", pattern(mebibyte)));
  expect_builders_bytes(builder);
}

TEST(HeaderBytes, EqualTheBuildersAroundTheLimitOfSizes) {
  for (const std::uint64_t size : {sentinel - 1, sentinel, sentinel + 1, 5 * gibibyte}) {
    ZipBuilder builder = smallest_builder();
    mean_size(builder, size);
    expect_builders_bytes(builder);
  }
}

TEST(HeaderBytes, EqualTheBuildersAroundTheLimitOfOffsets) {
  const std::size_t second = smallest_archive().entry(model_entry).header_offset;
  for (const std::uint64_t shift :
       {sentinel - second - 1, sentinel - second, sentinel - second + 1, 4 * gibibyte, 5 * gibibyte}) {
    expect_builders_bytes(smallest_builder(), shift);
  }
  for (const std::uint64_t size : {sentinel - 1, sentinel}) {
    for (const std::uint64_t shift : {sentinel - second - 1, sentinel - second}) {
      ZipBuilder each = smallest_builder();
      mean_size(each, size);
      each.entry(model_entry).in_both([size](HeaderFields& header) { header.csize = header.usize = size; });
      expect_builders_bytes(each, shift);
    }
  }
  ZipBuilder both = smallest_builder();
  mean_size(both, 6 * gibibyte);
  expect_builders_bytes(both, 4 * gibibyte);
}

TEST(HeaderBytes, EqualTheBuildersAroundTheLimitOfCounts) {
  ZipBuilder builder = smallest_builder();
  while (builder.entries.size() < 65534) {
    builder.entries.insert(builder.entries.end() - 1, zip_entry("e" + std::to_string(builder.entries.size()), {}));
  }
  expect_builders_bytes(builder);
  builder.entries.insert(builder.entries.end() - 1, zip_entry("last", {}));
  expect_builders_bytes(builder);
}

TEST(HeaderBytes, LocalZip64FieldMeansVersion45InBothHeaders) {
  zip::PlacedEntry entry;
  entry.name = "w";
  entry.placement = zip::place(0, 1, 10, 64);
  entry.placement.zip64 = true;  // the padding has room for the field
  EXPECT_EQ(u16_at(zip::local_header_bytes(entry), 4), 45U);
  EXPECT_EQ(u16_at(zip::directory_headers(std::array{entry}), 6), 45U);
}

TEST(HeaderBytes, VersionsNeededFollowZip64Fields) {
  constexpr std::uint64_t large = 0xffffffff;
  struct Case {
    std::uint64_t offset, size;
    unsigned version;
  };
  for (const auto& [offset, size, version] : {Case{0, large - 1, 10}, Case{0, large, 45}, Case{large - 1, 1, 10},
                                              Case{large, 1, 45}, Case{large, large, 45}}) {
    const zip::PlacedEntry entry{"name", zip::place(offset, 4, size, 64), 0};
    EXPECT_EQ(u16_at(zip::local_header_bytes(entry), 4), version) << offset << ' ' << size;
    EXPECT_EQ(u16_at(zip::directory_headers(std::span(&entry, 1)), 6), version) << offset << ' ' << size;
  }
}

TEST(Alignment, IsRefusedUnlessItIsAPowerOfTwoFrom64To32768) {
  for (std::uint64_t alignment = 64; alignment <= 32768; alignment *= 2) zip::check_alignment(alignment);
  for (const std::uint64_t alignment : {0ULL, 1ULL, 32ULL, 63ULL, 96ULL, 65536ULL}) {
    const auto error = error_if_any([alignment] { zip::check_alignment(alignment); });
    ASSERT_TRUE(error) << alignment;
    EXPECT_EQ(error->message(), "alignment " + std::to_string(alignment) +
                                    " is not possible; it must be a power of two from 64 to 32768");
  }
}

}  // namespace
}  // namespace onnxar::testing
