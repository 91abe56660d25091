// Sources of an entry and of its parts, which verify what they hand out.
#include "archive/entry_source.h"

#include <gtest/gtest.h>

#include <string_view>

#include "archive/opened.h"
#include "archive/sliced_entries.h"
#include "support/ranged_blob.h"
#include "support/refusal.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

/// An archive with the entry `w`, a byte of which is wrong.
Archive damaged_archive() {
  Built built = built_with({zip_entry("w", pattern(3000))});
  flip_bit(built.bytes, built.entry("w").data_offset + 2999);
  return opened(built.bytes);
}

TEST(EntrySource, HandsOutTheSameBytesInEveryWay) {
  for (const std::size_t size : {std::size_t{3000}, 3 * mebibyte}) {
    const Archive archive = opened(built_with({zip_entry("w", pattern(size))}).bytes);
    const EntrySource source(archive, *archive.find("w"));
    EXPECT_EQ(source.size(), size);
    EXPECT_EQ(all_of(source), pattern(size));
    Blob buffer(size);
    source.copy_to(buffer);
    EXPECT_EQ(buffer, pattern(size));
    Blob copied;
    source.copy([&copied](Bytes piece) { copied.insert(copied.end(), piece.begin(), piece.end()); });
    EXPECT_EQ(copied, pattern(size));
    source.verify();
  }
}

TEST(EntrySource, AWrongSumIsRefusedAtTheDataInEveryWay) {
  const Archive archive = damaged_archive();
  const ArchiveEntry entry = *archive.find("w");
  const EntrySource source(archive, entry);
  const ErrorContext wrong{Code::zip_data_crc, "w", archive.locate(entry).offset};
  EXPECT_EQ(refusal_of([&] { return all_of(source); }), wrong);
  EXPECT_EQ(refusal_of([&] { source.verify(); }), wrong);
  Blob buffer(3000);
  EXPECT_EQ(refusal_of([&] { source.copy_to(buffer); }), wrong);
}

TEST(EntrySource, OnlyAppendedEntriesMayChangeAndAreCopied) {
  const Built first = built_with({zip_entry("w", pattern(100))});
  const Archive archive = opened(edited(first, "another", {zip_entry("v", pattern(50))}).bytes);
  for (const std::string_view name : {"w", "v"}) {
    const bool may_change = name == "v";
    const ArchiveEntry entry = *archive.find(name);
    const EntrySource source(archive, entry);
    EXPECT_EQ(source.may_change(), may_change);
    int locations = 0;
    source.locate([&locations](const Location&) { ++locations; });
    EXPECT_EQ(locations, may_change ? 0 : 1);
    const std::byte* read_at = nullptr;
    source.read([&](Bytes bytes) { read_at = bytes.data(); });
    EXPECT_EQ(read_at == archive.bytes(entry).data(), !may_change);
  }
}

TEST(EntrySource, BytesReadInRangesDoNotChange) {
  const Built first = built_with({zip_entry("w", pattern(100))});
  const Archive archive = Archive::open(by_ranges(edited(first, "another", {zip_entry("v", pattern(50))}).bytes));
  for (const std::string_view name : {"w", "v"}) {
    const EntrySource source(archive, *archive.find(name));
    EXPECT_FALSE(source.may_change());
    source.locate([](const Location&) { ADD_FAILURE() << "the bytes are not in memory"; });
  }
}

TEST(EntrySource, BytesThatWereWrongOnlyWhenReadHaveChanged) {
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

}  // namespace
}  // namespace onnxar::testing
