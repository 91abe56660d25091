// Sources of an entry and of its parts, which verify what they hand out.
#include "archive/entry_source.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "archive/opened.h"
#include "support/refusal.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

Blob all_of(const ByteSource& source) {
  Blob all;
  source.read([&all](Bytes piece) { all.insert(all.end(), piece.begin(), piece.end()); });
  return all;
}

/// An archive with the entry `w`, a byte of which is wrong.
Archive damaged_archive() {
  Built built = built_with({zip_entry("w", pattern(3000))});
  flip_bit(built.bytes, built.entry("w").data_offset + 2999);
  return opened(built.bytes);
}

TEST(EntrySource, HandsOutTheSameBytesInEveryWay) {
  const Archive archive = opened(built_with({zip_entry("w", pattern(3000))}).bytes);
  const EntrySource source(archive, *archive.find("w"));
  EXPECT_EQ(source.size(), 3000U);
  EXPECT_EQ(all_of(source), pattern(3000));
  Blob buffer(3000);
  source.copy_to(buffer);
  EXPECT_EQ(buffer, pattern(3000));
  Blob copied;
  source.copy([&copied](Bytes piece) { copied.insert(copied.end(), piece.begin(), piece.end()); });
  EXPECT_EQ(copied, pattern(3000));
  source.verify();
}

TEST(EntrySource, AWrongSumIsRefusedAtTheDataInEveryWay) {
  const Archive archive = damaged_archive();
  const ArchiveEntry entry = *archive.find("w");
  const EntrySource source(archive, entry);
  const ErrorContext wrong{Code::zip_data_crc, "w", archive.locate(entry).offset};
  EXPECT_EQ(refusal_of([&] { return all_of(source); }), wrong);
  EXPECT_EQ(refusal_of([&] {
              source.verify();
              return 0;
            }),
            wrong);
  Blob buffer(3000);
  EXPECT_EQ(refusal_of([&] {
              source.copy_to(buffer);
              return 0;
            }),
            wrong);
}

TEST(EntrySource, OnlyEntriesThatAnEditAppendedMayChange) {
  const Built first = built_with({zip_entry("w", pattern(100))});
  const Archive archive = opened(edited(first, "another", {zip_entry("v", pattern(50))}).bytes);
  const auto locations_of = [&archive](std::string_view name) {
    int count = 0;
    EntrySource(archive, *archive.find(name)).locate([&count](const Location&) { ++count; });
    return count;
  };
  EXPECT_FALSE(EntrySource(archive, *archive.find("w")).may_change());
  EXPECT_TRUE(EntrySource(archive, *archive.find("v")).may_change());
  EXPECT_EQ(locations_of("w"), 1);
  EXPECT_EQ(locations_of("v"), 0);
}

TEST(EntrySource, EntriesThatMayChangeAreHandedOutAsCopies) {
  const Built first = built_with({zip_entry("w", pattern(100))});
  const Archive archive = opened(edited(first, "another", {zip_entry("v", pattern(50))}).bytes);
  const auto is_in_place = [&archive](std::string_view name) {
    const ArchiveEntry entry = *archive.find(name);
    const std::byte* read_at = nullptr;
    EntrySource(archive, entry).read([&](Bytes bytes) { read_at = bytes.data(); });
    return read_at == archive.bytes(entry).data();
  };
  EXPECT_TRUE(is_in_place("w"));
  EXPECT_FALSE(is_in_place("v"));
}

TEST(EntrySource, BytesThatWereWrongOnlyWhileTheyWereReadHaveChanged) {
  const Built built = built_with({zip_entry("w", pattern(2 * mebibyte + 5))});
  Blob bytes = built.bytes;
  const Archive archive = Archive::open(bytes, nullptr);
  int pieces = 0;
  const auto changing = [&](Bytes) {  // wrong when the second of three pieces is copied
    if (++pieces != 2) flip_bit(bytes, built.entry("w").data_offset + 3 * mebibyte / 2);
  };
  EXPECT_EQ(code_of([&] { archive.copy(*archive.find("w"), changing); }), Code::io_changed);
  EXPECT_EQ(pieces, 3);
}

TEST(SlicedEntries, CopiesGoToOneFileInTheFolder) {
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const TempDir folder;
  const Built first = built_with({zip_entry("w", pattern(100))});
  std::vector<ZipEntry> added = {zip_entry("v", pattern(50))};
  for (int i = 0; i < 40; ++i) added.push_back(zip_entry("u" + std::to_string(i), pattern(60)));
  const Archive archive = opened(edited(first, "another", added).bytes);
  SlicedEntries entries(folder.path());
  const auto descriptors_with = [&](std::string_view name) {
    const ArchiveEntry entry = *archive.find(name);
    static_cast<void>(all_of(*entries.source(archive, entry, archive.bytes(entry).first(5))));
    return descriptors();
  };
  const auto before = descriptors(), first_read = descriptors_with("v");
  EXPECT_GT(first_read, before);
  auto all_read = first_read;
  for (int i = 0; i < 40; ++i) all_read = descriptors_with("u" + std::to_string(i));
  EXPECT_LT(all_read, first_read + 20);  // Wine itself opens a few
  SlicedEntries nowhere(folder / "none");
  const ArchiveEntry entry = *archive.find("v");
  const auto source = nowhere.source(archive, entry, archive.bytes(entry));
  EXPECT_EQ(code_of([&] { return all_of(*source); }), Code::io_not_found);
}

TEST(SlicedEntries, PartsAreThoseOfTheVerifiedEntryWhetherItMayChangeOrNot) {
  const TempDir folder;
  const Built first = built_with({zip_entry("w", pattern(100))});
  const Archive archive = opened(edited(first, "another", {zip_entry("v", pattern(50, 3))}).bytes);
  SlicedEntries entries(folder.path());
  for (const std::string_view name : {"w", "v"}) {
    const ArchiveEntry entry = *archive.find(name);
    const Bytes whole = archive.bytes(entry);
    const auto front = entries.source(archive, entry, whole.first(10));
    const auto back = entries.source(archive, entry, whole.subspan(40, 10));
    EXPECT_EQ(all_of(*back), copy_of(whole.subspan(40, 10))) << name;
    EXPECT_EQ(all_of(*front), copy_of(whole.first(10))) << name;
  }
}

TEST(SlicedEntries, APartOfADamagedEntryIsRefused) {
  const TempDir folder;
  const Archive archive = damaged_archive();
  const ArchiveEntry entry = *archive.find("w");
  SlicedEntries entries(folder.path());
  const auto front = entries.source(archive, entry, archive.bytes(entry).first(10));
  for (int time = 1; time <= 2; ++time) {
    EXPECT_EQ(code_of([&] { return all_of(*front); }), Code::zip_data_crc) << "time " << time;
  }
}

}  // namespace
}  // namespace onnxar::testing
