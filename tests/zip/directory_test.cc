// The directory as a whole, and what it proves of a file. The vectors of spec/vectors show each refusal.
#include "zip/directory.h"

#include <gtest/gtest.h>

#include "archive/access.h"
#include "archive/entry_source.h"
#include "onnxar/archive.h"
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

TEST(Directory, ListsEveryEntryInTheOrderOfTheFile) {
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

TEST(Directory, OpensStockArchivesWithoutLocalHeaders) {
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

TEST(Directory, LocatesUnusuallyFarDataWhenOpening) {
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

// No page before the directory is touched.
TEST(Directory, OpeningAStockArchiveReadsOnlyTheEnd) {
  expect_no_page_touched_before_the_directory(stock_archive("n", record_up_to(64, 0xA11E)));
  expect_no_page_touched_before_the_directory(stock_archive(std::string(32, 'n'), Blob()));
}

TEST(Directory, RefusesLastEntryWhoseEndWraps) {
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

TEST(Directory, FirstAppendedIsTheFirstEntryOfAnEdit) {
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

// The shortest header has no name, so this directory is refused because of the name, not the count.
TEST(Directory, ComparesCountWithHeadersWithoutNames) {
  const Built built = changed_archive([](ZipBuilder& b) {
    b.entries.erase(b.entries.begin());
    b.entries[0].in_both([](HeaderFields& header) { header.name = ""; });
  });
  EXPECT_EQ(refusal_of_directory(built.bytes), (ErrorContext{Code::zip_name_empty, "", built.directory_offset}));
}

constexpr std::size_t entry_size = 1U << 20U;

/// An archive with entry `a` of 1 MiB at `alignment`, and a model of which the bytes after `a` are `tail` in number.
Built with_tail(std::size_t alignment, std::size_t tail) {
  ZipBuilder builder = smallest_builder();
  builder.entries.front() = zip_entry("a", pattern(entry_size));
  builder.entries.front().alignment = alignment;
  Blob& model = builder.entries.back().data;
  model = zeros(1);
  const Built least = builder.build_placed();
  const std::size_t end = least.entry("a").data_offset + entry_size;
  model = zeros(1 + tail - (least.bytes.size() - end));
  return builder.build_placed();
}

Built with_edit(const Built& built) { return append_edit(built, zeros(100), {zip_entry("b", pattern(10))}); }

/// With a tail as long as the way from the first multiple of 64 to the page, entry `a` seems to begin on a page.
constexpr std::size_t hidden_length = 4096 - 64;

std::size_t first_of_edit(const Built& built) {
  return zip::Directory::read(built.bytes, {}).first_appended(built.bytes);
}

// The tail ends where the entry would end if its data began on a page.
TEST(FirstAppended, IsAfterATailThatLooksLikePagePadding) {
  const Built built = with_tail(64, hidden_length);
  ASSERT_EQ(built.entry("a").data_offset, 64U);
  EXPECT_EQ(first_of_edit(built), 2U) << "nothing was appended yet";
  const Built once = with_edit(built);
  ASSERT_EQ(once.entry("b").header_offset, 4096 + entry_size);
  EXPECT_EQ(first_of_edit(once), 1U);
}

TEST(FirstAppended, IsTheSameEachTimeAndAfterAMove) {
  const Built once = with_edit(with_tail(64, hidden_length));
  zip::Directory directory = zip::Directory::read(once.bytes, {});
  EXPECT_EQ(directory.first_appended(once.bytes), 1U);
  EXPECT_EQ(directory.first_appended(once.bytes), 1U);
  const zip::Directory moved = std::move(directory);
  EXPECT_EQ(moved.first_appended(once.bytes), 1U);
}

TEST(FirstAppended, IsNotMovedByEntriesThatAreOnPages) {
  EXPECT_EQ(first_of_edit(with_tail(4096, 5000)), 2U);
  EXPECT_EQ(first_of_edit(with_edit(with_tail(4096, 5000))), 1U);
  for (const std::size_t longer : {64U, 4096U}) {
    EXPECT_EQ(first_of_edit(with_edit(with_tail(64, hidden_length + longer))), 1U) << longer;
  }
}

TEST(FirstAppended, IsAfterAnEntryWhoseHeaderIsBroken) {
  Built once = with_edit(with_tail(64, hidden_length));
  once.bytes[0] = std::byte{'X'};
  EXPECT_EQ(first_of_edit(once), 1U) << "who cannot tell has to copy";
}

TEST(FirstAppended, DecidesWhichEntriesAreCopied) {
  const Built once = with_edit(with_tail(64, hidden_length));
  const Archive archive = Archive::open(once.bytes, nullptr);
  EXPECT_FALSE(EntrySource(archive, *archive.find("a")).may_change());
  EXPECT_TRUE(EntrySource(archive, *archive.find("b")).may_change());
}

Built edited_once() { return append_edit(smallest_archive(), smallest_model(256, "edited")); }

TEST(Truncation, ArchiveCutAtAnyByteIsRefused) {
  for (const bool zip64 : {false, true}) {
    const Built built = changed_archive([=](ZipBuilder& b) { b.force_zip64 = zip64; });
    for (std::size_t size = 0; size < built.bytes.size(); ++size) {
      ASSERT_TRUE(refusal_of_directory(part(built.bytes, 0, size))) << zip64 << ' ' << size;
    }
  }
}

TEST(Truncation, EditedArchiveIsWholeAtTheEndOfEachStateOnly) {
  const Built first = smallest_archive();
  const Built second = append_edit(first, smallest_model(256, "edited"), {zip_entry("b", pattern(100))});
  for (std::size_t size = 0; size <= second.bytes.size(); ++size) {
    const Blob bytes = part(second.bytes, 0, size);
    const bool whole = size == first.bytes.size() || size == second.bytes.size();
    ASSERT_EQ(!refusal_of_directory(bytes), whole) << size;
  }
}

TEST(Appending, AnyBytesAfterTheEndAreRefused) {
  const Blob archive = smallest_archive().bytes;
  for (std::size_t size = 1; size <= 64; ++size) {
    for (const Blob& more :
         {Blob(size), pattern(size, 5), part(archive, 0, 64), part(archive, archive.size() - size, archive.size())}) {
      ASSERT_TRUE(refusal_of_directory(joined(archive, more))) << size;
    }
  }
}

/// Version needed 10 with this bit flipped is still from 10 to 45.
bool is_free_version_bit(unsigned bit) { return (10U ^ (1U << bit)) >= 10 && (10U ^ (1U << bit)) <= 45; }

// What made the file, its attributes, versions and the flag for UTF-8 may be anything; a bit anywhere else outside the
// data is seen.
TEST(FlippedBits, AreFoundOutsideTheDataAndFreeFields) {
  const Built built = smallest_archive();
  std::vector<bool> aside(built.bytes.size());     // data, and fields of which some bits are free
  std::vector<bool> free(8 * built.bytes.size());  // bits
  for (const PlacedEntry& entry : built.entries) {
    for (std::size_t i = 0; i < entry.data_size; ++i) aside[entry.data_offset + i] = true;
    for (const std::size_t field : {4U, 5U, 38U, 39U, 40U, 41U}) aside[entry.central_offset + field] = true;
    free[8 * (entry.central_offset + 36)] = true;  // the internal attribute for text
    for (const std::size_t version : {entry.header_offset + 4, entry.central_offset + 6}) {
      for (unsigned bit = 0; bit < 8; ++bit) free[8 * version + bit] = is_free_version_bit(bit);
      free[8 * (version + 2) + 11] = true;  // the flag for UTF-8
    }
  }
  for (std::size_t bit = 0; bit < free.size(); ++bit) {
    if (aside[bit / 8]) continue;
    Blob bytes = built.bytes;
    flip_bit(bytes, bit / 8, static_cast<unsigned>(bit % 8));
    EXPECT_EQ(refusal_of_archive(bytes).has_value(), !free[bit]) << bit / 8 << " bit " << bit % 8;
  }
}

TEST(SupersededTail, HasItsDirectoryRightBeforeItsEndRecord) {
  const Built first = smallest_archive();
  const Built second = edited_once();
  const PlacedEntry& w = second.entry("w");
  for (const std::size_t field : {first.end_offset + 12, first.end_offset + 16}) {
    Blob bytes = second.bytes;
    put_u32(bytes, field, u32_at(bytes, field) + 1);
    EXPECT_EQ(refusal_of_directory(bytes), (ErrorContext{Code::zip_entry_gap, "w", w.data_offset + w.data_size}));
  }
}

TEST(SupersededTail, LocalHeaderBeforeItIsCheckedWhenOpening) {
  Built second = edited_once();
  flip_bit(second.bytes, second.entry("w").header_offset + 10);
  EXPECT_EQ(refusal_of_directory(second.bytes), (ErrorContext{Code::zip_local_field, "w", 0}));
}

}  // namespace
}  // namespace onnxar::testing
