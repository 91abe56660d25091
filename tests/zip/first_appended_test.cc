// Which entries an edit appended, where opening did not see the superseded tail before them.
#include <gtest/gtest.h>

#include "archive/access.h"
#include "archive/entry_source.h"
#include "onnxar/archive.h"
#include "zip/directory.h"
#include "zip/reading.h"

namespace onnxar::testing {
namespace {

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

TEST(FirstAppended, IsAfterATailThatEndsWhereThePageWouldPutTheEnd) {
  const Built built = with_tail(64, hidden_length);
  ASSERT_EQ(built.entry("a").data_offset, 64U);
  EXPECT_EQ(first_of_edit(built), 2U) << "nothing was appended yet";
  const Built once = with_edit(built);
  ASSERT_EQ(once.entry("b").header_offset, 4096 + entry_size);
  EXPECT_EQ(first_of_edit(once), 1U);
}

TEST(FirstAppended, IsToldOftenAndByCopiesOfTheDirectory) {
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

}  // namespace
}  // namespace onnxar::testing
