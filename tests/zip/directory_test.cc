// The directory as a whole, and what it proves of a file. The vectors of spec/vectors show each refusal.
#include "zip/directory.h"

#include <gtest/gtest.h>

#include "zip/reading.h"

namespace onnxar::testing {
namespace {

/// Entries `a`, `b`, `c` of 100 bytes each, and the model.
ZipBuilder four_entries() {
  ZipBuilder builder = smallest_builder();
  builder.entries.erase(builder.entries.begin());
  for (const char* const name : {"c", "b", "a"}) {
    builder.entries.insert(builder.entries.begin(), zip_entry(name, pattern(100)));
  }
  return builder;
}

TEST(Directory, TellsEveryEntryInTheOrderOfTheFile) {
  const Built built = four_entries().build_placed();
  const zip::Directory directory = zip::Directory::read(built.bytes, {});
  ASSERT_EQ(directory.entries().size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const PlacedEntry& place = built.entries[i];
    EXPECT_EQ(directory.entries()[i].name, place.name);
    EXPECT_EQ(directory.entries()[i].size, place.data_size);
    EXPECT_EQ(directory.find(place.name), i);
    EXPECT_EQ(directory.data_offset(built.bytes, i), place.data_offset);
    EXPECT_EQ(directory.limit_of(i), i < 3 ? built.entries[i + 1].header_offset : built.directory_offset);
  }
  EXPECT_FALSE(directory.find("A"));
  EXPECT_FALSE(directory.find("d"));
  EXPECT_EQ(directory.offset(), built.directory_offset);
  EXPECT_FALSE(directory.unneeded_zip64());
}

TEST(Directory, ProvedNumbersOutliveAChangeOfTheFile) {
  Built built = smallest_archive();
  const zip::Directory directory = zip::Directory::read(built.bytes, {});
  EXPECT_EQ(directory.data_offset(built.bytes, 0), 64U);
  std::fill(built.bytes.begin(), built.bytes.end(), std::byte{0xAA});
  EXPECT_EQ(directory.entries()[0].name, "w");
  EXPECT_EQ(directory.find(model_entry), 1U);
  EXPECT_EQ(directory.data_offset(built.bytes, 0), 64U);
}

TEST(Directory, LocalHeadersAreProvedAtFirstUseOnly) {
  Built built = smallest_archive();
  flip_bit(built.bytes, built.entry(model_entry).header_offset);
  const zip::Directory directory = zip::Directory::read(built.bytes, {});
  EXPECT_EQ(directory.data_offset(built.bytes, 0), 64U);
  const auto first_use = [&] { return refusal_of([&] { return directory.data_offset(built.bytes, 1); }); };
  EXPECT_EQ(first_use(), at_header(Code::zip_local_header, built, model_entry));
  EXPECT_EQ(first_use(), at_header(Code::zip_local_header, built, model_entry));  // and stays refused
}

TEST(Directory, ProofForAnotherPurposeCountsAsFirstUse) {
  Built built = smallest_archive();
  const zip::Directory directory = zip::Directory::read(built.bytes, {});
  EXPECT_EQ(directory.prove_local(built.bytes, 0).data_offset, 64U);
  flip_bit(built.bytes, 0);
  EXPECT_EQ(directory.data_offset(built.bytes, 0), 64U);
}

TEST(Directory, HeaderOnItsOwnProvesAnEntryThatEndsRegularly) {
  const Built built = smallest_archive();
  const zip::Directory directory = zip::Directory::read(built.bytes, {});
  ASSERT_EQ(directory.regular_header_size(0), 64U);
  const Blob nothing(built.bytes.size());
  const auto proved = [&] { return !refusal_of([&] { return directory.data_offset(nothing, 0); }); };
  Blob header(built.bytes.begin(), built.bytes.begin() + 64);
  directory.prove_regular(Bytes(header).first(63), 0);
  EXPECT_FALSE(proved());
  flip_bit(header, 14);
  directory.prove_regular(header, 0);
  EXPECT_FALSE(proved());
  flip_bit(header, 14);
  directory.prove_regular(header, 0);
  EXPECT_TRUE(proved());
  EXPECT_EQ(directory.data_offset(nothing, 0), 64U);
}

/// A record for a name of three bytes that states an alignment of 64 and puts the data there.
Blob record_up_to(std::size_t data_offset, std::uint16_t id) {
  Blob padding(data_offset - 30 - 3 - 4);
  put_u16(padding, 0, 64);
  return extra_record(id, padding);
}

/// An archive of 65 entries as stock zip tools lay them out, each with this name and these local extra fields.
Built stock_archive(std::string_view name, const Blob& local_extra) {
  ZipBuilder builder = smallest_builder();
  builder.entries.clear();
  for (std::size_t i = 0; i < 64; ++i) {
    ZipEntry& entry = builder.entries.emplace_back(
        zip_entry(std::string(name) + static_cast<char>('A' + i / 8) + static_cast<char>('0' + i % 8), pattern(1024)));
    entry.local.extra = local_extra;
  }
  builder.entries.push_back(smallest_builder().entry(model_entry));
  return builder.build_placed();
}

/// Whether the archive opens although no local header is one.
bool opens_without_local_headers(Built built) {
  for (const PlacedEntry& entry : built.entries) flip_bit(built.bytes, entry.header_offset);
  return !refusal_of([&] { return zip::Directory::read(built.bytes, {}).offset(); });
}

TEST(Directory, StockArchivesOpenWithoutALookAtTheirLocalHeaders) {
  const std::string aligned(32, 'n');
  for (const Built& built : {stock_archive("n", record_up_to(64, 0xA11E)), stock_archive(aligned, Blob()),
                             stock_archive("n", record_up_to(64, 0xD935))}) {
    EXPECT_EQ(refusal_of_archive(built.bytes), std::nullopt);
    EXPECT_TRUE(opens_without_local_headers(built));
    const zip::Directory directory = zip::Directory::read(built.bytes, {});
    for (std::size_t i = 0; i < built.entries.size(); ++i) {
      const PlacedEntry& entry = built.entries[i];
      EXPECT_EQ(directory.regular_header_size(i), entry.data_offset - entry.header_offset);
    }
  }
}

TEST(Directory, DataFartherThanNeededIsLocatedWhenTheFileIsOpened) {
  const Built built = stock_archive("n", record_up_to(128, 0xD935));
  EXPECT_EQ(refusal_of_archive(built.bytes), std::nullopt);
  EXPECT_FALSE(opens_without_local_headers(built));
}

TEST(Directory, DataThatIsNotAtItsUsualPlaceIsSeenAtFirstUse) {
  // The name ends at 64: data may begin there without a record, and at 128 with one. It begins at 64 and is followed by
  // 64 bytes of nothing, so that the directory alone speaks for 128.
  const Built built = changed_entry([](ZipEntry& w) {
    w.in_both([](HeaderFields& header) { header.name = std::string(34, 'w'); });
    w.local.extra = Blob();
    w.gap_after = Blob(64);
  });
  const GuardedBuffer file = GuardedBuffer::ending_at_guard(built.bytes);
  const zip::Directory directory = zip::Directory::read(file.bytes(), {});
  ASSERT_EQ(directory.regular_header_size(0), 128U);
  directory.prove_regular(file.bytes().first(128), 0);
  EXPECT_EQ(refusal_of([&] { return directory.data_offset(file.bytes(), 0); }),
            (ErrorContext{Code::zip_entry_gap, std::string(34, 'w'), 64 + 1024}));
}

TEST(Directory, HeadersOfOtherEntriesAreReadWithTheFile) {
  ZipBuilder builder = smallest_builder();
  builder.entries[0].alignment = 4096;
  const Built built = builder.build_placed();
  EXPECT_EQ(zip::Directory::read(built.bytes, {}).regular_header_size(0), 0U);
}

void expect_no_page_touched_before_the_directory(const Built& built) {
  constexpr std::size_t untouched = 61440;  // whole pages
  ASSERT_GT(built.directory_offset, untouched + 1024);
  GuardedBuffer file = GuardedBuffer::starting_after_guard(built.bytes);
  file.forbid(0, untouched);
  EXPECT_EQ(refusal_of([&] { return zip::Directory::read(file.bytes(), {}).offset(); }), std::nullopt);
}

TEST(Directory, OpeningTouchesNoPageBeforeTheDirectory) {
  expect_no_page_touched_before_the_directory(smallest_builder(pattern(65536)).build_placed());
}

TEST(Directory, OpeningAStockArchiveTouchesNoPageBeforeTheDirectory) {
  expect_no_page_touched_before_the_directory(stock_archive("n", record_up_to(64, 0xA11E)));
  expect_no_page_touched_before_the_directory(stock_archive(std::string(32, 'n'), Blob()));
}

TEST(Directory, TheLastEntryEndsBeforeTheDirectoryEvenIfItsEndWraps) {
  for (const std::uint64_t size : {~std::uint64_t{0} - 63, ~std::uint64_t{0}}) {
    const Built built = changed_archive([size](ZipBuilder& b) {
      b.entry(model_entry).in_both([size](HeaderFields& header) { header.csize = header.usize = size; });
    });
    EXPECT_EQ(refusal_of_directory(built.bytes), at_header(Code::zip_entry_bounds, built, model_entry)) << size;
  }
}

std::size_t first_appended(const Built& built) {
  return zip::Directory::read(built.bytes, {}).first_appended(built.bytes);
}

TEST(Directory, EntriesOfTheFirstStateComeBeforeTheFirstThatAnEditAppended) {
  const Built plain = four_entries().build_placed();
  EXPECT_EQ(first_appended(plain), 4U);
  const Built once = append_edit(plain, smallest_model(256, "once"), {zip_entry("d", pattern(10))});
  EXPECT_EQ(first_appended(once), 3U);
  const Built twice = append_edit(once, smallest_model(256, "twice"), {zip_entry("e", pattern(10))});
  EXPECT_EQ(first_appended(twice), 3U);
}

TEST(Directory, AnEntryAtAnUnusualPlaceIsNotFollowedByAnEdit) {
  ZipBuilder builder = four_entries();
  builder.entries[1].alignment = 4096;
  EXPECT_EQ(first_appended(builder.build_placed()), 4U);
}

TEST(Directory, CountIsOnlyHeldAgainstTheSizeOfHeadersWithoutNames) {
  const Built built = changed_archive([](ZipBuilder& b) {
    b.entries.erase(b.entries.begin());
    b.entries[0].in_both([](HeaderFields& header) { header.name = ""; });
  });
  EXPECT_EQ(refusal_of_directory(built.bytes), (ErrorContext{Code::zip_name_empty, "", built.directory_offset}));
}

}  // namespace
}  // namespace onnxar::testing
