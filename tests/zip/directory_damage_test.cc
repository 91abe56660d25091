// Whole files: cut, lengthened, edited, and with a bit flipped anywhere.
#include <gtest/gtest.h>

#include "zip/directory.h"
#include "zip/reading.h"

namespace onnxar::testing {
namespace {

Blob joined(Blob first, const Blob& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Blob part(const Built& built, std::size_t first, std::size_t last) {
  return {built.bytes.begin() + static_cast<std::ptrdiff_t>(first),
          built.bytes.begin() + static_cast<std::ptrdiff_t>(last)};
}

std::size_t end_of(const PlacedEntry& entry) { return entry.data_offset + entry.data_size; }

ErrorContext gap_behind_w(const Built& built) { return {Code::zip_entry_gap, "w", end_of(built.entry("w"))}; }

Built edited_once() { return append_edit(smallest_archive(), smallest_model(256, "edited")); }

TEST(Truncation, ArchiveCutAtAnyByteIsRefused) {
  const Built built = smallest_archive();
  for (std::size_t size = 0; size < built.bytes.size(); ++size) {
    Blob bytes = built.bytes;
    truncate(bytes, size);
    ASSERT_TRUE(refusal_of_directory(bytes)) << size;
  }
}

TEST(Truncation, Zip64ArchiveCutAtAnyByteIsRefused) {
  const Built built = changed_archive([](ZipBuilder& b) { b.force_zip64 = true; });
  for (std::size_t size = 0; size < built.bytes.size(); ++size) {
    Blob bytes = built.bytes;
    truncate(bytes, size);
    ASSERT_TRUE(refusal_of_directory(bytes)) << size;
  }
}

TEST(Truncation, EditedArchiveIsWholeAtTheEndOfEachStateOnly) {
  const Built first = smallest_archive();
  const Built second = append_edit(first, smallest_model(256, "edited"), {zip_entry("b", pattern(100))});
  for (std::size_t size = 0; size <= second.bytes.size(); ++size) {
    const Blob bytes(second.bytes.begin(), second.bytes.begin() + static_cast<std::ptrdiff_t>(size));
    const bool whole = size == first.bytes.size() || size == second.bytes.size();
    ASSERT_EQ(!refusal_of_directory(bytes), whole) << size;
  }
}

TEST(Appending, AnyBytesAfterTheEndAreRefused) {
  const Blob archive = smallest_archive().bytes;
  for (std::size_t size = 1; size <= 64; ++size) {
    for (const Blob& more : {Blob(size), pattern(size, 5), Blob(archive.begin(), archive.begin() + 64),
                             Blob(archive.end() - static_cast<std::ptrdiff_t>(size), archive.end())}) {
      ASSERT_TRUE(refusal_of_directory(joined(archive, more))) << size;
    }
  }
}

TEST(Appending, SecondEndRecordIsRefused) {
  const Built built = smallest_archive();
  const Blob end = part(built, built.end_offset, built.bytes.size());
  const Blob twice = joined(built.bytes, end);
  EXPECT_EQ(refusal_of_directory(twice), (ErrorContext{Code::zip_end_directory_bounds, "", built.bytes.size()}));
}

/// Version needed 10 with this bit flipped is still from 10 to 45.
bool is_free_version_bit(unsigned bit) { return (10U ^ (1U << bit)) >= 10 && (10U ^ (1U << bit)) <= 45; }

// What made the file, its attributes, versions and the flag for UTF-8 may be anything; a bit anywhere else outside the
// data is seen.
TEST(FlippedBits, AreSeenEverywhereButInTheDataAndTheFreeFields) {
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

TEST(Payload, MayHoldZipSignaturesAndWholeArchives) {
  Blob payload = smallest_archive().bytes;
  payload.resize((payload.size() + 3) / 4 * 4);
  for (const std::uint32_t value : {signature::end, signature::zip64_locator, signature::zip64_end, signature::central,
                                    signature::local, signature::descriptor}) {
    payload.resize(payload.size() + 32);
    put_u32(payload, payload.size() - 32, value);
  }
  EXPECT_EQ(refusal_of_archive(smallest_builder(payload).build()), std::nullopt);
  ZipBuilder in_model = smallest_builder();
  in_model.entry(model_entry).data = joined(smallest_model(), smallest_archive().bytes);
  EXPECT_EQ(refusal_of_archive(in_model.build()), std::nullopt);
}

TEST(Payload, MayBeEmpty) {
  EXPECT_EQ(refusal_of_archive(archive_of_names({}).bytes), std::nullopt);
  EXPECT_EQ(refusal_of_archive(smallest_builder(Blob()).build()), std::nullopt);
}

TEST(SupersededTail, EditsAreAccepted) {
  Built built = smallest_archive();
  for (int i = 0; i < 5; ++i) {
    std::vector<ZipEntry> extra;
    if (i % 2 == 1) extra.push_back(zip_entry("more" + std::to_string(i), pattern(50)));
    built = append_edit(built, smallest_model(256, "edit " + std::to_string(i)), std::move(extra));
    ASSERT_EQ(refusal_of_archive(built.bytes), std::nullopt) << i;
  }
  const zip::Directory directory = zip::Directory::read(built.bytes, {});
  EXPECT_EQ(directory.entries().size(), 4U);
  EXPECT_EQ(directory.data_offset(built.bytes, 3), built.entry(model_entry).data_offset);
}

TEST(SupersededTail, MayHaveZip64RecordsWhereTheArchiveHasSome) {
  const Built first = changed_archive([](ZipBuilder& b) { b.force_zip64 = true; });
  ZipBuilder edit = edit_builder(first, smallest_model());
  edit.force_zip64 = true;
  EXPECT_EQ(refusal_of_archive(edit.build()), std::nullopt);
  edit.force_zip64 = false;
  EXPECT_EQ(refusal_of_directory(edit.build()), gap_behind_w(first));
}

TEST(SupersededTail, NeedsNoZip64RecordsWhereTheArchiveHasSome) {
  ZipBuilder edit = edit_builder(smallest_archive(), smallest_model());
  edit.force_zip64 = true;
  EXPECT_EQ(refusal_of_archive(edit.build()), std::nullopt);
}

TEST(SupersededTail, EndsInAnEndRecord) {
  const Built first = smallest_archive();
  const Built second = edited_once();
  for (std::size_t bit = 0; bit < 32; ++bit) {
    Blob bytes = second.bytes;
    flip_bit(bytes, first.end_offset + bit / 8, bit % 8);
    EXPECT_EQ(refusal_of_directory(bytes), gap_behind_w(second)) << bit;
  }
}

TEST(SupersededTail, HasItsDirectoryRightBeforeItsEndRecord) {
  const Built first = smallest_archive();
  const Built second = edited_once();
  for (const std::size_t field : {first.end_offset + 12, first.end_offset + 16}) {
    Blob bytes = second.bytes;
    put_u32(bytes, field, u32_at(bytes, field) + 1);
    EXPECT_EQ(refusal_of_directory(bytes), gap_behind_w(second));
  }
}

TEST(SupersededTail, ReachesToTheNextHeader) {
  const Built first = smallest_archive();
  ZipBuilder edit = edit_builder(first, smallest_model(256, "edited"));
  edit.prefix = Blob(1);
  const Built second = edit.build_placed();
  EXPECT_EQ(refusal_of_directory(second.bytes), gap_behind_w(second));
}

TEST(SupersededTail, DirectoryOfATailDoesNotBeginInTheData) {
  // The end of `w` is a directory and the gap an end record: the record alone is not a tail.
  const Built inner = smallest_archive();
  const Blob payload = part(inner, inner.directory_offset, inner.end_offset);
  Blob end = part(inner, inner.end_offset, inner.bytes.size());
  put_u32(end, 16, 64 + 1024);
  const Built built = changed_archive([&](ZipBuilder& b) {
    b.entries[0] = zip_entry("w", joined(Blob(1024), payload));
    b.entries[0].gap_after = end;
  });
  ASSERT_EQ(built.entry("w").data_offset, 64U);
  EXPECT_EQ(refusal_of_directory(built.bytes), gap_behind_w(built));
}

TEST(SupersededTail, RandomBytesOfItsSizeAreAGap) {
  const Built first = smallest_archive();
  Built second = edited_once();
  const std::size_t from = end_of(first.entry("w"));
  put_bytes(second.bytes, from, pattern(first.bytes.size() - from, 77));
  EXPECT_EQ(refusal_of_directory(second.bytes), gap_behind_w(second));
}

TEST(SupersededTail, NoneFollowsTheModel) {
  // A second directory and end record: superseded bytes would follow the model.
  const Built first = smallest_archive();
  Blob again = part(first, first.directory_offset, first.bytes.size());
  put_u32(again, first.directory_size + 16, static_cast<std::uint32_t>(first.bytes.size()));
  const PlacedEntry& model = first.entry(model_entry);
  EXPECT_EQ(refusal_of_directory(joined(first.bytes, again)),
            (ErrorContext{Code::zip_entry_gap, std::string(model_entry), end_of(model)}));
}

TEST(SupersededTail, FirstEntryStaysAt0) {
  // An archive of the model alone that was edited by appending: nothing listed lies at 0 any more.
  const Built only_model = archive_of_names({});
  const Built second = append_edit(only_model, smallest_model(256, "edited"));
  EXPECT_EQ(refusal_of_directory(second.bytes), (ErrorContext{Code::zip_entry_first_offset, std::string(model_entry),
                                                              second.entry(model_entry).central_offset}));
}

TEST(SupersededTail, LocalHeaderBeforeItIsProvedAtOnce) {
  Built second = edited_once();
  flip_bit(second.bytes, second.entry("w").header_offset + 10);
  EXPECT_EQ(refusal_of_directory(second.bytes), (ErrorContext{Code::zip_local_field, "w", 0}));
}

}  // namespace
}  // namespace onnxar::testing
