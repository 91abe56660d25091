// Headers, data and records at the last place where they fit, and one byte farther.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "zip/end_records.h"
#include "zip/layout.h"
#include "zip/local_header.h"
#include "zip/reading.h"
#include "zip/states.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NarrowPlaces, APaddingRecordMayHoldNoPadding) {
  const std::string name(28, 'n');  // 30 bytes of header, the name, and a record of 6 bytes end at 64
  const Built built = archive_of_names({name});
  EXPECT_EQ(u16_at(built.bytes, built.entry(name).padding_offset + 2), 2U) << "the record holds the alignment alone";
  EXPECT_EQ(refusal_of_archive(built.bytes), std::nullopt);
}

TEST(NarrowPlaces, TheLastEntrysDataMayEndWhereTheDirectoryBegins) {
  // A longer padding pushes the data of the model on, into the directory. Opening assumes the shortest header.
  const Built sound = smallest_archive();
  const PlacedEntry& model = sound.entry(model_entry);
  Blob bytes = sound.bytes;
  const std::size_t more = 64;
  put_u16(bytes, model.header_offset + 28, static_cast<std::uint16_t>(u16_at(bytes, model.header_offset + 28) + more));
  put_u16(bytes, model.padding_offset + 2, static_cast<std::uint16_t>(u16_at(bytes, model.padding_offset + 2) + more));
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(model.data_offset), more, std::byte{0});
  EXPECT_EQ(refusal_of_archive(sound.bytes), std::nullopt);
  EXPECT_EQ(refusal_of_archive(bytes), at_header(Code::zip_entry_bounds, sound, model_entry));
}

TEST(NarrowPlaces, StatesEndBeforeALocalZip64FieldOfAnotherForm) {
  const Built first = smallest_archive();
  for (const std::vector<std::uint64_t>& values :
       {std::vector<std::uint64_t>{}, std::vector<std::uint64_t>{100}, std::vector<std::uint64_t>{100, 100, 0}}) {
    ZipEntry entry = zip_entry("b", pattern(100));
    entry.local.csize32 = entry.local.usize32 = 0xffffffffU;
    entry.local.extra = zip64_record(values);
    const Built second = append_edit(first, smallest_model(), {entry});
    EXPECT_THAT(zip::state_ends(second.bytes), ElementsAre(first.bytes.size())) << values.size();
  }
}

TEST(NarrowPlaces, RecordsThatTheFileCutsOffEndNoState) {
  ZipBuilder builder = smallest_builder();
  builder.force_zip64 = true;
  const Built built = builder.build_placed();
  EXPECT_THAT(zip::state_ends(built.bytes), ElementsAre(built.bytes.size()));
  for (std::size_t size = *built.zip64_end_offset; size < built.bytes.size(); ++size) {
    EXPECT_THAT(zip::state_ends(std::span(built.bytes).first(size)), IsEmpty()) << size;
  }
}

TEST(NarrowPlaces, VersionsNeededTellWhichHeadersHaveZip64Fields) {
  constexpr std::uint64_t large = 0xffffffff;
  struct Case {
    std::uint64_t offset, size;
    unsigned version;
  };
  for (const auto& [offset, size, version] : {Case{0, large - 1, 10}, Case{0, large, 45}, Case{large - 1, 1, 10},
                                              Case{large, 1, 45}, Case{large, large, 45}}) {
    const zip::PlacedEntry entry{"name", zip::place(offset, 4, size, 64), 0};
    EXPECT_EQ(u16_at(zip::local_header_bytes(entry), 4), version) << offset << ' ' << size;
    const auto directory = zip::directory_bytes(std::span(&entry, 1), entry.placement.end(), {});
    EXPECT_EQ(u16_at(directory, 6), version) << offset << ' ' << size;
  }
}

TEST(NarrowPlaces, AHeaderShorterThanItsPlaceSuggestsIsNotProvedInAdvance) {
  // Without a padding record the data begins at 64. The bytes after it end as if it began at 128, another usual place.
  const std::string name(34, 'n');
  const Built built = changed_archive([&](ZipBuilder& builder) {
    ZipEntry entry = zip_entry(name, pattern(10));
    entry.local.padding = Blob();
    entry.gap_after = zeros(64);
    builder.entries.insert(builder.entries.begin(), entry);
  });
  ASSERT_EQ(built.entry(name).data_offset, 64U);
  const GuardedBuffer file = GuardedBuffer::ending_at_guard(built.bytes);
  const zip::Directory directory = zip::Directory::read(file.bytes(), {});
  ASSERT_EQ(directory.regular_header_size(0), 128U);
  directory.prove_regular(file.bytes().first(128), 0);
  EXPECT_EQ(code_of([&] { return directory.data_offset(file.bytes(), 0); }), Code::zip_entry_gap);
}

TEST(NarrowPlaces, ALocalZip64FieldIsNeededFromTheSentinelOn) {
  constexpr std::uint64_t large = 0xffffffff;
  const Built built = changed_entry([](ZipEntry& w) { w.force_zip64_sizes = true; });
  for (const std::uint64_t size : {std::uint64_t{1024}, large - 1, large, large + 1}) {
    Blob bytes = built.bytes;
    put_u64(bytes, 31 + 4, size);  // the zip64 field follows the name of one byte
    put_u64(bytes, 31 + 12, size);
    zip::DirectoryEntry entry = zip::Directory::read(built.bytes, {}).entries()[0];
    entry.name = "w";
    entry.size = size;
    EXPECT_EQ(zip::read_local_header(bytes, entry).unneeded_zip64, size < large) << size;
  }
}

TEST(NarrowPlaces, AnEndRecordNeeds22Bytes) {
  const Built built = smallest_archive();
  const Bytes end = Bytes(built.bytes).last(22);
  EXPECT_TRUE(zip::has_end_record(end));
  EXPECT_TRUE(zip::has_end_record(built.bytes));
  EXPECT_FALSE(zip::has_end_record(end.first(21)));
  EXPECT_FALSE(zip::has_end_record(end.last(21)));
  EXPECT_FALSE(zip::has_end_record(zeros(22)));
  EXPECT_FALSE(zip::has_end_record({}));
}

}  // namespace
}  // namespace onnxar::testing
