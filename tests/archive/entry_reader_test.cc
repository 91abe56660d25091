// Entries that are read in ranges: one call for data and local header, which are proved at every use.
#include "archive/entry_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/container_check.h"
#include "archive/opened.h"
#include "archive/ranged_entries.h"
#include "onnxar/archive.h"
#include "os/pages.h"
#include "support/ranged_blob.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

TEST(Ranges, AnEntryTakesOneCallTheFirstTime) {
  const Built built = ten_weights();
  const auto file = by_ranges(built.bytes);
  const Archive archive = Archive::open(file);
  const std::size_t before = file->calls;
  EXPECT_EQ(copy_of(archive.bytes(*archive.find("w4"))), pattern(100'000));
  EXPECT_EQ(file->calls, before + 1);
  EXPECT_EQ(copy_of(archive.bytes(*archive.find("w4"))), pattern(100'000));
  EXPECT_EQ(archive.locate(*archive.find("w4")).offset, built.entry("w4").data_offset);
  EXPECT_EQ(archive.locate(*archive.find("w4")).alignment, 64U);
  EXPECT_EQ(file->calls, before + 1);
}

TEST(Ranges, ASliceReadsNoMoreThanItsPages) {
  const auto file = by_ranges(ten_weights().bytes);
  const Archive archive = Archive::open(file);
  file->reads.clear();
  const Blob expected = pattern(100'000);
  EXPECT_EQ(copy_of(archive.resolve("w2", 50'000, 10)), Blob(expected.begin() + 50'000, expected.begin() + 50'010));
  std::uint64_t sum = 0;
  for (const RangedBlob::Read& read : file->reads) sum += read.length;
  EXPECT_LE(sum, 2 * os::mapping_granularity());
  EXPECT_EQ(code_of([&] { return archive.resolve("w2", 50'000, 60'000).size(); }), Code::onnx_external_out_of_range);
}

TEST(Ranges, PrefetchedEntriesTakeOneCall) {
  const auto file = by_ranges(ten_weights().bytes);
  const Archive archive = Archive::open(file);
  const std::vector<ArchiveEntry> entries = {archive.entry(7), archive.entry(1), archive.entry(2)};
  const std::size_t before = file->calls;
  archive.prefetch(entries, Prefetch::none);
  archive.prefetch(entries, Prefetch::will_need);
  EXPECT_EQ(file->calls, before);
  archive.prefetch(entries, Prefetch::populate);
  EXPECT_EQ(file->calls, before + 1);
  for (const ArchiveEntry& entry : entries) EXPECT_EQ(copy_of(archive.bytes(entry)), pattern(100'000));
  EXPECT_EQ(file->calls, before + 1);
}

TEST(Ranges, PrefetchWhenOpenedReadsEverything) {
  const auto file = by_ranges(ten_weights().bytes);
  const Archive archive = Archive::open(file, {.prefetch = Prefetch::populate});
  file->fails = true;
  for (const ArchiveEntry& entry : archive.entries()) archive.verify(entry);
}

TEST(Ranges, CopyingAllEntriesReadsAhead) {
  std::vector<ZipEntry> entries;
  for (int i = 0; i < 500; ++i) entries.push_back(zip_entry("w" + std::to_string(i), pattern(1000)));
  const auto file = by_ranges(built_with(std::move(entries)).bytes);
  const Archive archive = Archive::open(file);
  for (const ArchiveEntry& entry : archive.entries()) archive.verify(entry);
  EXPECT_LT(file->calls, 20U);
}

TEST(Ranges, EveryUseRefusesAFaultyLocalHeader) {
  Built built = ten_weights();
  flip_bit(built.bytes, built.entry("w5").header_offset + 30);  // the name
  const auto expected = ErrorContext{Code::zip_local_name, "w5", built.entry("w5").header_offset};
  const std::vector<std::function<void(const Archive&, const ArchiveEntry&)>> uses = {
      [](const Archive& archive, const ArchiveEntry& entry) { static_cast<void>(archive.bytes(entry)); },
      [](const Archive& archive, const ArchiveEntry& entry) { static_cast<void>(archive.locate(entry)); },
      [](const Archive& archive, const ArchiveEntry& entry) { archive.verify(entry); },
      [](const Archive& archive, const ArchiveEntry& entry) { copied_out(archive, entry); },
      [](const Archive& archive, const ArchiveEntry&) { static_cast<void>(archive.resolve("w5", 90'000, 10)); },
      [](const Archive& archive, const ArchiveEntry& entry) {
        archive.prefetch(std::vector{entry}, Prefetch::populate);
      }};
  for (std::size_t i = 0; i < uses.size(); ++i) {
    SCOPED_TRACE(i);
    const Archive archive = Archive::open(by_ranges(built.bytes));
    EXPECT_EQ(refusal_of([&] { uses[i](archive, archive.entry(5)); }), expected);
  }
}

/// An archive in which the directory alone misleads. The data of `w` begins at 64, and the superseded tail after it is
/// as long as makes 4096, where data of this size usually begins, look like its place.
Built with_misleading_tail() {
  constexpr std::size_t size = 1U << 20U;
  const auto with_producer = [](std::size_t length) {
    ZipBuilder builder;
    builder.entries = {zip_entry("w", pattern(size)),
                       zip_entry(model_entry, smallest_model(256, std::string(length, 'p')))};
    builder.entries.front().alignment = 64;
    return edited(builder.build_placed(), "second", {zip_entry("added", pattern(100))});
  };
  constexpr std::size_t length = 3000;
  return with_producer(length + size + 4096 - with_producer(length).entry("added").header_offset);
}

TEST(Ranges, ReadsEntryBeforeMisleadingTailWhereItIs) {
  const Built built = with_misleading_tail();
  ASSERT_EQ(built.entry("w").data_offset, 64U);
  ASSERT_EQ(built.entry("added").header_offset - (1U << 20U), 4096U);
  const std::vector<std::function<Blob(const Archive&)>> uses = {
      [](const Archive& archive) { return copy_of(archive.bytes(archive.entry(0))); },
      [](const Archive& archive) { return copy_of(archive.resolve("w")); },
      [](const Archive& archive) { return copied_out(archive, archive.entry(0)); },
  };
  for (std::size_t i = 0; i < uses.size(); ++i) {
    SCOPED_TRACE(i);
    const Archive archive = Archive::open(by_ranges(built.bytes));
    EXPECT_EQ(uses[i](archive), pattern(1U << 20U));
    EXPECT_EQ(archive.locate(archive.entry(0)).offset, 64U);
  }
}

TEST(Ranges, EveryStateOfAnEditedArchiveIsReadAsAFile) {
  for (const Built& built : {with_misleading_tail(), edited(edited(ten_weights(), "second"), "third")}) {
    const Archive whole = opened(built.bytes);
    const Archive archive = Archive::open(by_ranges(built.bytes));
    ASSERT_EQ(archive.size(), whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      EXPECT_EQ(archive.locate(archive.entry(i)).offset, whole.locate(whole.entry(i)).offset);
      EXPECT_TRUE(std::ranges::equal(archive.bytes(archive.entry(i)), whole.bytes(whole.entry(i))));
      EXPECT_EQ(copied_out(archive, archive.entry(i)), copy_of(whole.bytes(whole.entry(i))));
    }
    EXPECT_EQ(finding_lines(check_container(archive)), finding_lines(check_container(whole)));
    EXPECT_TRUE(same_state(archive, whole));
  }
}

}  // namespace
}  // namespace onnxar::testing
