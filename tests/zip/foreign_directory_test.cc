// Zip files of any maker: what is read.
#include "zip/foreign_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "zip/directory.h"
#include "zip/end_records.h"
#include "zip/foreign.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ForeignDirectory, ReadsAPlainZip) {
  const Built built = plain_zip().build_placed();
  const auto files = read_all(built.bytes);
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0], (std::pair{std::string(model_entry), blob("model")}));
  EXPECT_EQ(files[1], (std::pair{std::string("a"), pattern(100, 1)}));
  EXPECT_EQ(files[2], (std::pair{std::string("b"), pattern(200, 2)}));
}

TEST(ForeignDirectory, ReadsArchives) {
  const Built archive = smallest_archive();
  EXPECT_THAT(names_in(archive.bytes), ElementsAre("w", model_entry));
  const Built edited = append_edit(archive, smallest_model(256, "edited"), {zip_entry("b", pattern(10))});
  EXPECT_THAT(names_in(edited.bytes), ElementsAre("w", "b", model_entry));
  EXPECT_EQ(read_all(edited.bytes)[2].second, smallest_model(256, "edited"));
}

TEST(ForeignDirectory, AllowsEndRecordInSupersededModelOfArchive) {
  ZipBuilder builder = smallest_builder();
  builder.entries.insert(builder.entries.begin(), zip_entry("v", pattern(100)));
  const Built first = builder.build_placed();
  Blob file = append_edit(first, smallest_model(256, "edited"), {zip_entry("b", pattern(10))}).bytes;
  const std::size_t at = first.entry(model_entry).data_offset + 100;
  std::ranges::copy(blob("PK\5\6"), file.begin() + static_cast<std::ptrdiff_t>(at));
  put_u16(file, at + 20, static_cast<std::uint16_t>(file.size() - at - 22));  // the rest would be its comment
  EXPECT_EQ(refusal_of_zip(file), std::nullopt);
  put_u16(file, 30 + 1, 0x5455);  // the id of the first extra field of `v`, which opening does not read
  EXPECT_EQ(refusal_of_zip(file), (ErrorContext{Code::zip_end_ambiguous, "", at}));
}

TEST(ForeignDirectory, ReadsTheAlignmentOfEitherRecord) {
  const auto alignment_of = [](std::uint16_t id, unsigned recorded, const Blob& more = {}) {
    Blob record = extra_record(id, Blob(2));
    put_u16(record, 4, static_cast<std::uint16_t>(recorded));
    const Built built = changed_a([&](ZipEntry& e) { e.local.extra = joined(record, more); });
    const auto directory = zip::ForeignDirectory::read(built.bytes, {});
    return directory.entries()[*directory.find("a")].alignment;
  };
  EXPECT_EQ(alignment_of(0xD935, 128), 128U);
  EXPECT_EQ(alignment_of(0xA11E, 128), 128U);
  EXPECT_EQ(alignment_of(0xA11E, 0x8000U | 4096U), 4096U);  // the method may be changed
  EXPECT_EQ(alignment_of(0xA11E, 4), 0U);
  EXPECT_EQ(alignment_of(0xA11E, 0x8000), 0U);
  Blob other = extra_record(0xA11E, Blob(2));
  put_u16(other, 4, 512);
  EXPECT_EQ(alignment_of(0xD935, 128, other), 128U);
}

TEST(ForeignDirectory, ReadsTheRecordedAlignment) {
  ZipBuilder builder = smallest_builder();
  builder.alignment = 4096;
  builder.entries.push_back(plain_entry(zip_entry("plain", blob("x"))));
  builder.entries.push_back(zip_entry("odd", blob("x")));
  builder.entry("odd").local.recorded_alignment = std::uint16_t{4};  // as Android's tools write it
  const Blob bytes = builder.build();
  const auto directory = zip::ForeignDirectory::read(bytes, {});
  std::vector<std::uint64_t> alignments;
  for (const zip::ForeignEntry& entry : directory.entries()) alignments.push_back(entry.alignment);
  EXPECT_THAT(alignments, ElementsAre(4096, 4096, 0, 0));
}

TEST(ForeignDirectory, FindsFilesByTheirExactName) {
  const Built built = changed([](ZipBuilder& b) { b.entries.insert(b.entries.begin(), zip_entry("f/", {})); });
  const auto directory = zip::ForeignDirectory::read(built.bytes, {});
  EXPECT_EQ(directory.find("a"), 2U);
  EXPECT_EQ(directory.find("A"), std::nullopt);
  EXPECT_EQ(directory.find("f/"), std::nullopt);
  EXPECT_EQ(directory.find("f"), std::nullopt);
  EXPECT_EQ(directory.offset(), built.directory_offset);
  EXPECT_TRUE(directory.entries()[0].folder);
}

TEST(ForeignDirectory, EntriesComeInTheOrderOfTheFile) {
  expect_read(changed([](ZipBuilder& b) { b.directory_order = {{2, 0, 1}}; }));
}

TEST(ForeignDirectory, DeflatedEntriesAreInflated) {
  const Built built = changed([](ZipBuilder& b) { b.entries[1] = plain_entry(deflated_entry("a", pattern(70000))); });
  expect_read(built);
  EXPECT_EQ(read_all(built.bytes)[1].second, pattern(70000));
}

TEST(ForeignDirectory, StreamedEntriesMaySayTheirSizesInFront) {
  expect_read(changed([](ZipBuilder& b) {
    b.entries[1] = plain_entry(streamed_entry("a", pattern(100, 1)));
    b.entries[1].local.crc = std::nullopt;
    b.entries[1].local.csize = b.entries[1].local.usize = std::nullopt;
  }));
}

TEST(ForeignDirectory, FormIsFree) {
  expect_read(changed([](ZipBuilder& b) { b.comment = "a comment"; }));
  expect_read(changed([](ZipBuilder& b) { b.comment = std::string(65535, 'c'); }));
  expect_read(changed_a([](ZipEntry& e) { e.central.comment = "of an entry"; }));
  expect_read(changed_a([](ZipEntry& e) { e.central.version_made_by = std::uint16_t{0x0b3f}; }));
  expect_read(changed_a([](ZipEntry& e) { e.central.external_attributes = 0x20U; }));
  expect_read(changed_a([](ZipEntry& e) { e.local.time = std::uint16_t{1}; }));
  expect_read(changed_a([](ZipEntry& e) { e.local.version_needed = std::uint16_t{10}; }));
  expect_read(changed_a([](ZipEntry& e) { e.in_both([](HeaderFields& h) { h.flags = std::uint16_t{0x0806}; }); }));
}

TEST(ForeignDirectory, AllowsAnyExtraFields) {
  const auto local = [](const Blob& extra) { return changed_a([&](ZipEntry& e) { e.local.extra = extra; }); };
  expect_read(local(extra_record(0x5455, pattern(9))));
  expect_read(local(zeros(3)));   // zipalign's padding
  expect_read(local(zeros(63)));  // the same
  expect_read(local(extra_record(0x4246, blob("ZZZZ"))));
  expect_read(changed_a([](ZipEntry& e) { e.central.extra = extra_record(0x7875, pattern(11)); }));
  expect_read(changed_a([](ZipEntry& e) { e.central.extra = extra_record(0xd935, zeros(4)); }));
}

TEST(ForeignDirectory, Zip64IsRead) {
  expect_read(changed([](ZipBuilder& b) { b.force_zip64 = true; }));
  expect_read(changed([](ZipBuilder& b) {
    b.force_zip64 = true;
    b.comment = "zip64 and a comment";
  }));
  expect_read(changed([](ZipBuilder& b) {
    ZipEntry entry = zip_entry("a", pattern(100, 1));
    entry.force_zip64_sizes = entry.force_zip64_offset = true;
    b.entries[1] = entry;
  }));
  // A streaming writer that cannot know: a zip64 field, its values 0, in the local header alone.
  expect_read(changed([](ZipBuilder& b) {
    ZipEntry entry = plain_entry(streamed_entry("a", pattern(100, 1)));
    entry.local.extra = zip64_record({0, 0});
    entry.local.csize32 = entry.local.usize32 = 0xffffffffU;
    b.entries[1] = entry;
  }));
  // Both sizes in the field, but only one of them sent there.
  expect_read(changed_a([](ZipEntry& e) {
    e.local.extra = zip64_record({100, 100});
    e.local.csize32 = 0xffffffffU;
  }));
}

TEST(ForeignDirectory, AZip64EndRecordMayStateAnyVersionUpTo45) {
  for (const std::uint16_t version : std::vector<std::uint16_t>{0, 9, 10, 19, 20, 45}) {
    expect_read(changed([=](ZipBuilder& b) {
      b.force_zip64 = true;
      b.zip64_end.version_needed = version;
    }));
  }
}

TEST(ForeignDirectory, ReadsUnneededZip64FieldsThatAgree) {
  const std::vector<std::vector<std::uint64_t>> contents = {{}, {100}, {100, 100}};
  for (const auto& values : contents) {
    expect_read(changed_a([&](ZipEntry& e) { e.central.extra = zip64_record(values); }));
    expect_read(changed_a([&](ZipEntry& e) { e.local.extra = zip64_record(values); }));
  }
  const Built built = plain_zip().build_placed();
  const std::uint64_t offset = built.entry("a").header_offset;
  expect_read(changed_a([&](ZipEntry& e) { e.central.extra = zip64_record({100, 100, offset}); }));
  // One value is asked for, and more are there.
  expect_read(changed_a([](ZipEntry& e) {
    e.central.extra = zip64_record({100, 100});
    e.central.usize32 = 0xffffffffU;
  }));
}

TEST(ForeignDirectory, Reads65535EntriesWithoutZip64) {
  ZipBuilder builder = plain_zip();
  while (builder.entries.size() < 65535) {
    builder.entries.push_back(plain_entry(zip_entry("e" + std::to_string(builder.entries.size()), {})));
  }
  builder.write_zip64_end = builder.write_zip64_locator = false;
  builder.end.entries = builder.end.entries_on_disk = std::uint16_t{65535};
  const Built built = builder.build_placed();
  Blob bytes = built.bytes;
  put_u32(bytes, built.end_offset + 12, static_cast<std::uint32_t>(built.directory_size));
  put_u32(bytes, built.end_offset + 16, static_cast<std::uint32_t>(built.directory_offset));
  EXPECT_EQ(zip::ForeignDirectory::read(bytes, {}).entries().size(), 65535U);
}

TEST(ForeignDirectory, BytesOfNoEntryAreSkipped) {
  expect_read(changed_a([](ZipEntry& e) { e.gap_before = Blob(34); }));
  expect_read(changed([](ZipBuilder& b) { b.prefix = blob("#!/bin/sh"); }));
  expect_read(changed([](ZipBuilder& b) { b.gap_before_directory = Blob(34); }));
  // Superseded models of an edited archive are such bytes: a local header that no directory lists may follow a listed
  // one.
  const Built orphan = changed_a([](ZipEntry& e) { e.listed = false; });
  EXPECT_THAT(names_in(orphan.bytes), ElementsAre(model_entry, "b"));
}

TEST(ForeignDirectory, FoldersAreNotFiles) {
  const Built built = changed([](ZipBuilder& b) {
    ZipEntry folder = plain_entry(zip_entry("folder/", {}));
    folder.central.external_attributes = 040755U << 16U | 0x10U;
    b.entries.push_back(folder);
    b.entries.push_back(plain_entry(zip_entry("folder/c", blob("c"))));
  });
  EXPECT_THAT(names_in(built.bytes), ElementsAre(model_entry, "a", "b", "folder/c"));
}

TEST(ForeignDirectory, NamesTheZip64VersionsThatItReads) {
  ZipBuilder builder = smallest_builder();
  builder.force_zip64 = true;
  builder.zip64_end.version_needed = std::uint16_t{46};
  const Blob bytes = builder.build();
  const auto of_zip = error_if_any([&] { return zip::ForeignDirectory::read(bytes, {}).entries().size(); });
  const auto of_archive = error_if_any([&] { return zip::Directory::read(bytes, {}).entries().size(); });
  ASSERT_TRUE(of_zip && of_archive);
  EXPECT_THAT(of_zip->message(), HasSubstr("version up to 45)"));
  EXPECT_THAT(of_archive->message(), Not(HasSubstr("up to")));
}

// 19 280 is `PK` in two bytes. With a directory whose size ends in 5 and 6, the end record contains its own signature.
TEST(ForeignDirectory, ReadsNumbersThatLookLikeAnEndSignature) {
  constexpr std::size_t entries = 0x4b50;
  constexpr std::size_t directory_size = 0x000f0605;
  ZipBuilder builder = plain_zip();
  std::size_t size = builder.build_placed().directory_size;
  while (builder.entries.size() < entries) {
    const std::string name = "n" + std::to_string(builder.entries.size() + 100000);
    builder.entries.push_back(plain_entry(zip_entry(name, {})));
    size += 46 + name.size();
  }
  ASSERT_LT(size, directory_size + 65536);
  builder.entries.back().central.comment =
      std::string(directory_size % 65536 + 65536 - size % 65536, 'c').substr(0, 65535);
  const Built built = builder.build_placed();
  ASSERT_EQ(u32_at(built.bytes, built.end_offset + 10), 0x06054b50U);
  EXPECT_EQ(zip::ForeignDirectory::read(built.bytes, {}).entries().size(), entries);
}

TEST(ForeignDirectory, AnEndRecordIsFoundWithAnyCommentAndOnlyWhole) {
  const Blob alone = ZipBuilder().build();
  EXPECT_TRUE(zip::has_end_record(alone));
  EXPECT_FALSE(zip::has_end_record(Bytes(alone).first(21)));
  EXPECT_FALSE(zip::has_end_record(Bytes(alone).last(21)));
  EXPECT_FALSE(zip::has_end_record({}));
  EXPECT_FALSE(zip::has_end_record(zeros(100)));
  EXPECT_TRUE(zip::has_end_record(changed([](ZipBuilder& b) { b.comment = "a comment"; }).bytes));
  EXPECT_FALSE(zip::has_end_record(changed([](ZipBuilder& b) { b.trailing = blob("x"); }).bytes));
}

}  // namespace
}  // namespace onnxar::testing
