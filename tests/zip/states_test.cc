// Where the states of a file end, found by walking it from its front.
#include "zip/states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "zip/directory.h"
#include "zip/reading.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Built edited(const Built& built, std::vector<ZipEntry> extra = {}) {
  return append_edit(built, smallest_model(256, "edited"), std::move(extra));
}

TEST(StateEnds, FollowEveryEndRecord) {
  const Built first = smallest_archive();
  const Built second = edited(first, {zip_entry("b", pattern(100))});
  const Built third = edited(second);
  EXPECT_THAT(zip::state_ends(third.bytes), ElementsAre(first.bytes.size(), second.bytes.size(), third.bytes.size()));
}

TEST(StateEnds, AreFoundInEveryPrefix) {
  const Built first = smallest_archive();
  const Built second = edited(first, {zip_entry("b", pattern(100))});
  for (std::size_t size = 0; size < second.bytes.size(); ++size) {
    const auto ends = zip::state_ends(std::span(second.bytes).first(size));
    if (size < first.bytes.size()) {
      ASSERT_THAT(ends, IsEmpty()) << size;
    } else {
      ASSERT_THAT(ends, ElementsAre(first.bytes.size())) << size;
    }
  }
}

TEST(StateEnds, MayHaveZip64RecordsAndFields) {
  ZipBuilder builder = smallest_builder();
  builder.force_zip64 = true;
  builder.entry("w").force_zip64_sizes = true;
  const Built first = builder.build_placed();
  ZipBuilder edit = edit_builder(first, smallest_model());
  edit.force_zip64 = true;
  const Blob second = edit.build();
  EXPECT_THAT(zip::state_ends(second), ElementsAre(first.bytes.size(), second.size()));
}

TEST(StateEnds, RecordsInDataAreData) {
  const Built inner = smallest_archive();
  const Built outer = edited(inner, {zip_entry("inner", inner.bytes)});
  EXPECT_THAT(zip::state_ends(outer.bytes), ElementsAre(inner.bytes.size(), outer.bytes.size()));
}

TEST(StateEnds, DirectoryBeginsWhereItsHeadersDo) {
  Built built = smallest_archive();
  put_u32(built.bytes, built.end_offset + 12, static_cast<std::uint32_t>(built.directory_size - 1));
  put_u32(built.bytes, built.end_offset + 16, static_cast<std::uint32_t>(built.directory_offset + 1));
  EXPECT_THAT(zip::state_ends(built.bytes), IsEmpty());
}

TEST(StateEnds, WalkEndsAtOtherBytes) {
  const Built first = smallest_archive();
  const Built second = edited(first);
  for (const std::size_t at : {second.entry(model_entry).header_offset, second.directory_offset, second.end_offset}) {
    Blob bytes = second.bytes;
    flip_bit(bytes, at);
    EXPECT_THAT(zip::state_ends(bytes), ElementsAre(first.bytes.size()));
  }
  EXPECT_THAT(zip::state_ends(zeros(1000)), IsEmpty());
  EXPECT_THAT(zip::state_ends({}), IsEmpty());
}

TEST(StateEnds, SizesThatLeaveTheFileEndTheWalk) {
  for (const std::uint32_t size : {0x7fffffffU, 0xfffffffeU, 0xffffffffU}) {
    Built built = smallest_archive();
    put_u32(built.bytes, 18, size);
    EXPECT_THAT(zip::state_ends(built.bytes), IsEmpty());
  }
  ZipBuilder builder = smallest_builder();
  builder.entry("w").force_zip64_sizes = true;
  Built built = builder.build_placed();
  put_u64(built.bytes, built.entry("w").extra_offset + 4, ~std::uint64_t{0} - 10);
  EXPECT_THAT(zip::state_ends(built.bytes), IsEmpty());
}

TEST(StateEnds, LieBeforeALocalZip64FieldOfAnotherForm) {
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

TEST(StateEnds, RecordsThatTheFileCutsOffEndNoState) {
  ZipBuilder builder = smallest_builder();
  builder.force_zip64 = true;
  const Built built = builder.build_placed();
  EXPECT_THAT(zip::state_ends(built.bytes), ElementsAre(built.bytes.size()));
  for (std::size_t size = *built.zip64_end_offset; size < built.bytes.size(); ++size) {
    EXPECT_THAT(zip::state_ends(std::span(built.bytes).first(size)), IsEmpty()) << size;
  }
}

TEST(StateEnds, AnEndRecordWithoutADirectoryEndsNoState) {
  EXPECT_THAT(zip::state_ends(ZipBuilder().build()), IsEmpty());
}

/// An archive, a directory header and so many zeros, and another archive.
Blob after_unfinished_edit(const Built& first, std::size_t zeros) {
  ZipBuilder builder = smallest_builder();
  const std::size_t header = first.directory_offset;
  builder.prefix = joined(first.bytes, part(first.bytes, header, header + first.entry("w").central_size));
  builder.prefix.resize(builder.prefix.size() + zeros);
  return builder.build();
}

TEST(StateEnds, DirectoryOfAnUnfinishedEditIsSkipped) {
  const Built first = smallest_archive();
  const Blob bytes = after_unfinished_edit(first, 0);
  EXPECT_THAT(zip::state_ends(bytes), ElementsAre(first.bytes.size(), bytes.size()));
}

TEST(StateEnds, NothingButAnEndRecordFollowsADirectory) {
  const Built first = smallest_archive();
  EXPECT_THAT(zip::state_ends(after_unfinished_edit(first, 22)), ElementsAre(first.bytes.size()));
}

TEST(StateEnds, EachEndRecordHasADirectoryOfItsOwn) {
  const Built first = smallest_archive();
  Blob twice = joined(first.bytes, part(first.bytes, first.directory_offset, first.bytes.size()));
  put_u32(twice, twice.size() - 6, static_cast<std::uint32_t>(first.bytes.size()));
  EXPECT_THAT(zip::state_ends(twice), ElementsAre(first.bytes.size(), twice.size()));
}

// --- Local headers that states share ---------------------------------------------------------------------------------

/// So many states. Each adds an entry whose local header has 6 KiB of padding.
Blob padded_states(std::size_t count) {
  Built built = smallest_archive();
  while (count-- > 0) {
    ZipEntry added = zip_entry("w" + std::to_string(count), {});
    added.local.more_padding = 6400;
    built = edited(built, {added});
  }
  return built.bytes;
}

/// How many bytes of padding proving all local headers of all states takes.
std::uint64_t compared_padding(const Blob& bytes) {
  zip::KnownZeros zeros;
  for (const std::uint64_t end : zip::state_ends(bytes)) {
    const Bytes state = Bytes(bytes).first(end);
    const zip::Directory directory = zip::Directory::read(state, {}, {}, &zeros);
    for (std::size_t i = 0; i < directory.entries().size(); ++i) static_cast<void>(directory.local(state, i));
  }
  return zeros.compared();
}

TEST(KnownZeros, PaddingOfAllStatesIsComparedOnce) {
  for (const std::size_t states : {10U, 20U, 40U}) {
    EXPECT_LT(compared_padding(padded_states(states)), states * 6500) << states;
  }
}

TEST(KnownZeros, RecognisesZeros) {
  Blob bytes = zeros(2000);
  bytes[1999] = std::byte{1};
  zip::KnownZeros known;
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_TRUE(known.are_zeros(Bytes(bytes).first(1999)));
    EXPECT_FALSE(known.are_zeros(Bytes(bytes)));
    EXPECT_FALSE(known.are_zeros(Bytes(bytes).last(1)));
    EXPECT_TRUE(known.are_zeros({}));
  }
  EXPECT_FALSE(known.are_zeros(Bytes(bytes)));
}

}  // namespace
}  // namespace onnxar::testing
