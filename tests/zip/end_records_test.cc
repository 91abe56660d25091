// The end of an archive: one way to read it, and everything else refused at its place.
#include "zip/end_records.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "base/mapped_file.h"
#include "support/temp_dir.h"
#include "zip/reading.h"

namespace onnxar::testing {
namespace {

std::optional<ErrorContext> refusal_of_end(const Blob& bytes) {
  const GuardedBuffer file = GuardedBuffer::ending_at_guard(bytes);
  return refusal_of([&] { return zip::read_end(file.bytes()).entries; });
}

/// The smallest archive with zip64 end records, with one change.
template <typename Change>
Built changed_zip64(const Change& change) {
  return changed_archive([&](ZipBuilder& builder) {
    builder.force_zip64 = true;
    change(builder);
  });
}

/// The code for the changed archive, which has to point to `place` (a member of Built).
std::optional<Code> code_at(const Built& built, std::optional<std::size_t> place) {
  const auto refusal = refusal_of_end(built.bytes);
  if (!refusal) return std::nullopt;
  EXPECT_EQ(refusal->entry, "");
  EXPECT_EQ(refusal->offset, place);
  return refusal->code;
}

template <typename Change>
std::optional<Code> code_of_end(const Change& change) {
  const Built built = changed_archive(change);
  return code_at(built, built.end_offset);
}

template <typename Change>
std::optional<Code> code_of_zip64_end(const Change& change) {
  const Built built = changed_zip64(change);
  return code_at(built, built.end_offset);
}

template <typename Change>
std::optional<Code> code_of_record(const Change& change) {
  const Built built = changed_zip64(change);
  return code_at(built, built.zip64_end_offset);
}

template <typename Change>
std::optional<Code> code_of_locator(const Change& change) {
  const Built built = changed_zip64(change);
  return code_at(built, built.zip64_locator_offset);
}

TEST(EndRecords, TellWhereTheDirectoryIs) {
  const Built built = smallest_archive();
  const zip::EndOfArchive end = zip::read_end(built.bytes);
  EXPECT_EQ(end.entries, 2U);
  EXPECT_EQ(end.directory_offset, built.directory_offset);
  EXPECT_EQ(end.directory_size, built.directory_size);
  EXPECT_EQ(end.directory_end(), built.end_offset);
  EXPECT_FALSE(end.zip64);
  EXPECT_FALSE(end.unneeded_zip64);
}

TEST(EndRecords, Zip64RecordsThatAgreeAreReadAndRemarked) {
  const Built built = changed_zip64([](ZipBuilder&) {});
  const zip::EndOfArchive end = zip::read_end(built.bytes);
  EXPECT_EQ(end.entries, 2U);
  EXPECT_EQ(end.directory_end(), built.zip64_end_offset);
  EXPECT_TRUE(end.zip64);
  EXPECT_TRUE(end.unneeded_zip64);
}

TEST(EndRecords, FieldsOfTheEndRecordMayBeSentinelOrEqual) {
  const Built plain = smallest_archive();
  const Built mixed = changed_zip64([&](ZipBuilder& builder) {
    builder.end.entries = builder.end.entries_on_disk = std::uint16_t{2};
    builder.end.directory_offset = static_cast<std::uint32_t>(plain.directory_offset);
  });
  EXPECT_EQ(refusal_of_end(mixed.bytes), std::nullopt);
}

// 7-Zip refuses them, although the zip64 record has the true count.
TEST(EndRecords, TwoCountsThatDifferAreRefusedBesideAZip64Record) {
  EXPECT_EQ(code_of_zip64_end([](ZipBuilder& b) { b.end.entries_on_disk = std::uint16_t{2}; }),
            Code::zip_end_multi_disk);
  EXPECT_EQ(code_of_zip64_end([](ZipBuilder& b) { b.end.entries = std::uint16_t{2}; }), Code::zip_end_multi_disk);
}

TEST(EndRecords, MakerOfTheZip64RecordIsFree) {
  EXPECT_EQ(code_of_record([](ZipBuilder& b) { b.zip64_end.version_made_by = std::uint16_t{0xFFFF}; }), std::nullopt);
}

TEST(EndRecords, EmptyFileIsRefused) { EXPECT_EQ(refusal_of_end({}), (ErrorContext{Code::zip_end_missing, "", 0})); }

TEST(EndRecords, FileOfFewerThan22BytesIsRefused) {
  const Blob bytes = smallest_archive().bytes;
  for (std::size_t size = 1; size < 22; ++size) {
    EXPECT_EQ(refusal_of_end({bytes.end() - static_cast<std::ptrdiff_t>(size), bytes.end()}),
              (ErrorContext{Code::zip_end_missing, "", size}));
  }
}

TEST(EndRecords, FileWithoutAnEndRecordIsRefused) {
  const Built built = changed_archive([](ZipBuilder& b) { b.write_end = false; });
  EXPECT_EQ(refusal_of_end(built.bytes), (ErrorContext{Code::zip_end_missing, "", built.bytes.size()}));
  EXPECT_EQ(refusal_of_end(pattern(100000)), (ErrorContext{Code::zip_end_missing, "", 100000}));
}

TEST(EndRecords, BytesAfterTheEndRecordAreRefusedAtTheRecord) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{64}, std::size_t{65535}}) {
    EXPECT_EQ(code_of_end([size](ZipBuilder& b) { b.trailing = Blob(size); }), Code::zip_end_not_last) << size;
  }
}

TEST(EndRecords, NothingIsSearchedForFartherAway) {
  const Built built = changed_archive([](ZipBuilder& b) { b.trailing = Blob(70000); });
  EXPECT_EQ(refusal_of_end(built.bytes), (ErrorContext{Code::zip_end_missing, "", built.bytes.size()}));
}

TEST(EndRecords, CommentThatIsAnnouncedButMissingIsRefused) {
  EXPECT_EQ(code_of_end([](ZipBuilder& b) { b.end.comment_length = std::uint16_t{1}; }), Code::zip_end_comment);
  EXPECT_EQ(code_of_end([](ZipBuilder& b) { b.end.comment_length = std::uint16_t{0xFFFF}; }), Code::zip_end_comment);
}

TEST(EndRecords, CommentThatIsShorterThanTheRestIsRefused) {
  EXPECT_EQ(code_of_end([](ZipBuilder& b) {
              b.end.comment_length = std::uint16_t{1};
              b.trailing = blob("more");
            }),
            Code::zip_end_not_last);
}

// A zip with a comment is whole; "cut them off or fetch it again" would be the wrong advice.
TEST(EndRecords, ArchiveCommentIsCalledOne) {
  EXPECT_EQ(code_of_end([](ZipBuilder& b) { b.comment = "a comment"; }), Code::zip_end_comment);
  EXPECT_EQ(code_of_end([](ZipBuilder& b) { b.comment = std::string(65535, 'c'); }), Code::zip_end_comment);
}

TEST(EndRecords, CommentThatEndsInAnEndRecordHidesNothing) {
  const Built inner = changed_archive([](ZipBuilder& b) { b.entries.clear(); });
  const Built built = changed_archive([&](ZipBuilder& b) { b.comment = text_of(inner.bytes); });
  EXPECT_EQ(refusal_of_end(built.bytes), (ErrorContext{Code::zip_end_directory_bounds, "", built.bytes.size() - 22}));
}

TEST(EndRecords, SeveralDisksAreRefused) {
  EXPECT_EQ(code_of_end([](ZipBuilder& b) { b.end.disk = std::uint16_t{1}; }), Code::zip_end_multi_disk);
  EXPECT_EQ(code_of_end([](ZipBuilder& b) { b.end.directory_disk = std::uint16_t{1}; }), Code::zip_end_multi_disk);
  EXPECT_EQ(code_of_end([](ZipBuilder& b) { b.end.entries_on_disk = std::uint16_t{1}; }), Code::zip_end_multi_disk);
  EXPECT_EQ(code_of_end([](ZipBuilder& b) { b.end.entries_on_disk = std::uint16_t{0xFFFF}; }),
            Code::zip_end_multi_disk);
}

TEST(EndRecords, SeveralDisksInZip64RecordsAreRefused) {
  EXPECT_EQ(code_of_locator([](ZipBuilder& b) { b.zip64_locator.disk = 1U; }), Code::zip_end_multi_disk);
  EXPECT_EQ(code_of_locator([](ZipBuilder& b) { b.zip64_locator.disks = 2U; }), Code::zip_end_multi_disk);
  EXPECT_EQ(code_of_locator([](ZipBuilder& b) { b.zip64_locator.disks = 0U; }), Code::zip_end_multi_disk);
  EXPECT_EQ(code_of_record([](ZipBuilder& b) { b.zip64_end.disk = 1U; }), Code::zip_end_multi_disk);
  EXPECT_EQ(code_of_record([](ZipBuilder& b) { b.zip64_end.directory_disk = 1U; }), Code::zip_end_multi_disk);
  EXPECT_EQ(code_of_record([](ZipBuilder& b) { b.zip64_end.entries_on_disk = 1U; }), Code::zip_end_multi_disk);
}

TEST(EndRecords, DirectoryEndsWhereTheEndRecordsBegin) {
  const Built plain = smallest_archive();
  const auto size = static_cast<std::uint32_t>(plain.directory_size);
  const auto offset = static_cast<std::uint32_t>(plain.directory_offset);
  for (const std::uint32_t wrong : {size - 10, size - 1, size + 1, size + 10, 0U, 0xFFFFFFFEU}) {
    EXPECT_EQ(code_of_end([wrong](ZipBuilder& b) { b.end.directory_size = wrong; }), Code::zip_end_directory_bounds);
  }
  for (const std::uint32_t wrong : {0U, offset - 7, offset + 7, 1000000U, 0xFFFFFFFEU}) {
    EXPECT_EQ(code_of_end([wrong](ZipBuilder& b) { b.end.directory_offset = wrong; }), Code::zip_end_directory_bounds);
  }
}

TEST(EndRecords, GapsAroundTheEndRecordsAreRefused) {
  EXPECT_EQ(code_of_end([](ZipBuilder& b) { b.gap_after_directory = blob("gap"); }), Code::zip_end_directory_bounds);
  EXPECT_EQ(code_of_zip64_end([](ZipBuilder& b) { b.gap_after_directory = blob("gap"); }),
            Code::zip_end_directory_bounds);
  EXPECT_EQ(code_of_locator([](ZipBuilder& b) { b.gap_before_locator = blob("gap"); }), Code::zip_zip64_locator);
  EXPECT_EQ(code_of_zip64_end([](ZipBuilder& b) { b.gap_before_end = blob("gap"); }), Code::zip_zip64_locator);
}

TEST(EndRecords, BytesPutInOrTakenOutBeforeTheDirectoryAreSeen) {
  const Built built = smallest_archive();
  Blob shorter = built.bytes;
  erase(shorter, 0, 1);
  EXPECT_EQ(refusal_of_end(shorter), (ErrorContext{Code::zip_end_directory_bounds, "", built.end_offset - 1}));
  Blob twice = built.bytes;
  twice.insert(twice.end(), built.bytes.begin(), built.bytes.end());
  EXPECT_EQ(refusal_of_end(twice),
            (ErrorContext{Code::zip_end_directory_bounds, "", built.bytes.size() + built.end_offset}));
}

TEST(EndRecords, SentinelsWithoutALocatorAreRefused) {
  const auto expect_refused = [](const auto& change) { EXPECT_EQ(code_of_end(change), Code::zip_zip64_locator); };
  expect_refused([](ZipBuilder& b) { b.end.entries = b.end.entries_on_disk = std::uint16_t{0xFFFF}; });
  expect_refused([](ZipBuilder& b) { b.end.directory_size = 0xFFFFFFFFU; });
  expect_refused([](ZipBuilder& b) { b.end.directory_offset = 0xFFFFFFFFU; });
  expect_refused([](ZipBuilder& b) {
    b.force_zip64 = true;
    b.write_zip64_locator = false;
  });
}

TEST(EndRecords, LocatorPointsToThe56BytesBeforeItself) {
  const Built built = changed_zip64([](ZipBuilder&) {});
  const std::uint64_t right = *built.zip64_end_offset;
  for (const std::uint64_t wrong : {std::uint64_t{0}, right - 1, right + 1, right + 56, std::uint64_t{1} << 40U,
                                    ~std::uint64_t{0}, ~std::uint64_t{0} - 55}) {
    EXPECT_EQ(code_of_locator([wrong](ZipBuilder& b) { b.zip64_locator.record_offset = wrong; }),
              Code::zip_zip64_locator)
        << wrong;
  }
}

TEST(EndRecords, RecordElsewhereIsRefusedEvenIfTheLocatorPointsToIt) {
  const Built plain = changed_zip64([](ZipBuilder&) {});
  const Blob record(plain.bytes.begin() + static_cast<std::ptrdiff_t>(*plain.zip64_end_offset),
                    plain.bytes.begin() + static_cast<std::ptrdiff_t>(*plain.zip64_locator_offset));
  EXPECT_EQ(code_of_locator([&](ZipBuilder& b) { b.gap_before_locator = record; }), Code::zip_zip64_locator);
}

TEST(EndRecords, LocatorWithoutRoomForARecordIsRefused) {
  // The locator begins at 0, so the offset 56 bytes before it would wrap.
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{0} - 56}) {
    ZipBuilder builder;
    builder.write_zip64_locator = true;
    builder.zip64_locator.record_offset = offset;
    EXPECT_EQ(refusal_of_end(builder.build()), (ErrorContext{Code::zip_zip64_locator, "", 0}));
  }
}

TEST(EndRecords, Zip64RecordHasItsSignatureSizeAndVersion) {
  EXPECT_EQ(code_of_record([](ZipBuilder& b) { b.zip64_end.signature = 0x06064b51U; }), Code::zip_zip64_record);
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{43}, std::uint64_t{45}, ~std::uint64_t{0}}) {
    EXPECT_EQ(code_of_record([size](ZipBuilder& b) { b.zip64_end.record_size = size; }), Code::zip_zip64_record);
  }
  const auto code_of_version = [](unsigned version) {
    return code_of_record(
        [version](ZipBuilder& b) { b.zip64_end.version_needed = static_cast<std::uint16_t>(version); });
  };
  for (const unsigned version : {0U, 9U, 46U, 62U}) EXPECT_EQ(code_of_version(version), Code::zip_zip64_record);
  for (const unsigned version : {10U, 20U, 44U, 45U}) EXPECT_EQ(code_of_version(version), std::nullopt);
}

TEST(EndRecords, ExtensibleDataInTheZip64RecordIsRefused) {
  EXPECT_EQ(code_of_locator([](ZipBuilder& b) { b.zip64_end.extensible_data = Blob(8); }), Code::zip_zip64_locator);
}

TEST(EndRecords, ContradictionsBetweenTheRecordsAreRefused) {
  const auto expect_refused = [](const auto& change) {
    EXPECT_EQ(code_of_zip64_end(change), Code::zip_zip64_disagree);
  };
  expect_refused([](ZipBuilder& b) { b.end.entries = b.end.entries_on_disk = std::uint16_t{3}; });
  expect_refused([](ZipBuilder& b) { b.end.directory_size = 1U; });
  expect_refused([](ZipBuilder& b) { b.end.directory_offset = 0U; });
}

TEST(EndRecords, LargeNumbersInTheZip64RecordDoNotWrap) {
  const Built plain = changed_zip64([](ZipBuilder&) {});
  const std::uint64_t end = *plain.zip64_end_offset;
  EXPECT_EQ(code_of_zip64_end([](ZipBuilder& b) { b.zip64_end.directory_size = 1ULL << 62U; }),
            Code::zip_end_directory_bounds);
  EXPECT_EQ(code_of_zip64_end([end](ZipBuilder& b) {
              b.zip64_end.directory_offset = ~std::uint64_t{0};
              b.zip64_end.directory_size = end + 1;  // the sum wraps to where the records begin
            }),
            Code::zip_end_directory_bounds);
}

TEST(EndRecords, OneThatIsFartherAwayThanACommentCanBeLongIsNotFound) {
  const auto alone = [](std::size_t trailing) {
    ZipBuilder builder;
    builder.trailing = Blob(trailing);
    return builder.build();
  };
  EXPECT_EQ(refusal_of_end(alone(65535)), (ErrorContext{Code::zip_end_not_last, "", 0}));
  EXPECT_EQ(refusal_of_end(alone(65536)), (ErrorContext{Code::zip_end_missing, "", 65536 + 22}));
  const Built built = changed_archive([](ZipBuilder& b) { b.trailing = Blob(65536); });
  EXPECT_EQ(refusal_of_end(built.bytes), (ErrorContext{Code::zip_end_missing, "", built.bytes.size()}));
}

TEST(EndRecords, LocatorOneByteTooEarlyForARecordIsRefused) {
  ZipBuilder builder;
  builder.prefix = Blob(55);
  builder.write_zip64_locator = true;
  builder.zip64_locator.record_offset = std::uint64_t{0} - 1;
  EXPECT_EQ(refusal_of_end(builder.build()), (ErrorContext{Code::zip_zip64_locator, "", 55}));
}

TEST(EndRecords, PlaceWithoutAZip64RecordIsToldFromARecordOfAnotherForm) {
  const auto message_of = [](const auto& change) {
    const Blob bytes = changed_zip64(change).bytes;
    return error_of([&] { return zip::read_end(bytes).entries; }).value().message();
  };
  EXPECT_EQ(message_of([](ZipBuilder& b) { b.zip64_end.signature = 0x06064b51U; }),
            "no zip64 end record where the locator points");
}

TEST(EndRecords, Zip64IsNeededFrom65535EntriesOn) {
  const auto unneeded = [](std::uint64_t entries) {
    const Built built =
        changed_zip64([=](ZipBuilder& b) { b.zip64_end.entries = b.zip64_end.entries_on_disk = entries; });
    return zip::read_end(built.bytes).unneeded_zip64;
  };
  EXPECT_TRUE(unneeded(65534));
  EXPECT_FALSE(unneeded(65535));
  EXPECT_FALSE(unneeded(65536));
}

/// Whether a directory of this offset and size has zip64 end records without need. The file's bytes before its end
/// records are a hole, which is mapped and never touched.
bool has_unneeded_zip64(std::uint64_t offset, std::uint64_t size) {
  const Built built = changed_zip64([](ZipBuilder&) {});
  Blob records(built.bytes.end() - 98, built.bytes.end());
  put_u64(records, 40, size);
  put_u64(records, 48, offset);
  put_u64(records, 56 + 8, offset + size);
  const std::size_t length = offset + size + records.size();
  const TempDir folder;
  const std::filesystem::path path = folder.write_file("a", "");
  std::filesystem::resize_file(path, length - records.size());
  std::ofstream(path, std::ios::binary | std::ios::app)
      .write(reinterpret_cast<const char*>(records.data()), static_cast<std::streamsize>(records.size()));
  const base::MappedFile file = base::MappedFile::open(path);
  EXPECT_EQ(file.bytes().size(), length);
  return zip::read_end(file.bytes()).unneeded_zip64;
}

TEST(EndRecords, Zip64IsNeededForADirectoryThatIsThatLargeOrThatFarAway) {
  if (sizeof(std::size_t) < sizeof(std::uint64_t)) GTEST_SKIP() << "a file of 4 GiB does not fit in memory";
  EXPECT_TRUE(has_unneeded_zip64(sentinel - 1, 100));
  EXPECT_FALSE(has_unneeded_zip64(sentinel, 100));
  EXPECT_FALSE(has_unneeded_zip64(sentinel + 1, 100));
  EXPECT_TRUE(has_unneeded_zip64(100, sentinel - 1));
  EXPECT_FALSE(has_unneeded_zip64(100, sentinel));
  EXPECT_FALSE(has_unneeded_zip64(100, sentinel + 1));
}

TEST(EndRecords, DefaultLimitsAreThoseThatTheHeaderPromises) {
  EXPECT_EQ(zip::Limits{}.entries, 1048576U);
  EXPECT_EQ(zip::Limits{}.directory_size, 268435456U);
}

}  // namespace
}  // namespace onnxar::testing
