// Writing archives through the public interface.
#include "onnxar/archive_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "onnxar/archive.h"
#include "support/refusal.h"
#include "support/sources.h"
#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

/// A stream that hands out `data` in pieces of `piece` bytes.
StreamReader stream_of(const Blob& data, std::size_t piece) {
  return [&data, piece, done = std::size_t{0}](std::span<std::byte> buffer) mutable {
    const std::size_t count = std::min({piece, buffer.size(), data.size() - done});
    std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(done), count, buffer.begin());
    done += count;
    return count;
  };
}

class ArchiveWriterTest : public ::testing::Test {
 protected:
  /// Uses a separate writer, because a writer that failed does not add entries.
  template <typename... Arguments>
  std::optional<Error> error_of_adding(Arguments&&... arguments) {
    ArchiveWriter other = ArchiveWriter::create(folder_ / "a");
    return error_if_any([&] { other.add(std::forward<Arguments>(arguments)...); });
  }
  template <typename... Arguments>
  std::optional<ErrorContext> refusal_of_adding(Arguments&&... arguments) {
    ArchiveWriter other = ArchiveWriter::create(folder_ / "a");
    return refusal_of([&] { other.add(std::forward<Arguments>(arguments)...); });
  }
  void expect_nothing_seen() const { EXPECT_EQ(visible_names(folder_), Strings{}); }
  Blob finished() {
    writer_.finish(smallest_model());
    return folder_.read_file("a");
  }
  Blob expected(Blob payload) {
    ZipBuilder builder = smallest_builder(std::move(payload));
    builder.entry(model_entry).data = smallest_model();
    return builder.build();
  }

  TempDir folder_;
  // tests/archive/model_proof_writers_test.cc tests the proof of models.
  ArchiveWriter writer_ = ArchiveWriter::create(folder_ / "a", {.verify_model = false});
};

TEST_F(ArchiveWriterTest, SmallestArchiveIsTheBuilders) {
  writer_.add("w", pattern(1024));
  EXPECT_EQ(finished(), smallest_archive().bytes);
}

TEST_F(ArchiveWriterTest, NothingIsSeenBeforeItIsFinished) {
  writer_.add("w", pattern(3 * mebibyte));
  expect_nothing_seen();
  writer_.finish(smallest_model());
  EXPECT_EQ(folder_.file_names(), Strings{"a"});
}

TEST_F(ArchiveWriterTest, DestroyedWriterLeavesNothing) {
  {
    ArchiveWriter other = ArchiveWriter::create(folder_ / "b");
    other.add("w", pattern(3 * mebibyte));
  }
  expect_nothing_seen();
}

TEST_F(ArchiveWriterTest, RangeThatLeavesTheFileIsRefused) {
  const TempDir source;
  const fs::path path = source.write_file("data", pattern(5000));
  const auto expect_refused = [&](const FileRange& range, Code code) {
    expect_error(error_of_adding("w", range), {.code = code, .entry = "w", .path = range.path});
  };
  for (const auto& [offset, length] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, 5001}, {5000, 1}, {5001, 0}, {1, ~std::uint64_t{0}}, {~std::uint64_t{0}, 2}}) {
    expect_refused(FileRange(path, offset, length), Code::io_source_size);
  }
  expect_refused(FileRange(path, 5001), Code::io_source_size);
}

TEST_F(ArchiveWriterTest, RangeOfAFileIsCopiedWithoutALengthToItsEnd) {
  const Blob whole = pattern(5000);
  const TempDir source;
  const fs::path path = source.write_file("data", whole);
  writer_.add("middle", FileRange{path, 1000, 2000});
  writer_.add("end", FileRange(path, 1000));
  EXPECT_EQ(refusal_of_adding("w", FileRange{folder_ / "none", 0, 1})->code, Code::io_not_found);
  writer_.finish(smallest_model());
  const Archive archive = Archive::open(folder_ / "a");
  for (const ArchiveEntry& entry : archive.entries()) archive.verify(entry);
  EXPECT_EQ(copy_of(archive.resolve("middle")), copy_of(Bytes(whole).subspan(1000, 2000)));
  EXPECT_EQ(copy_of(archive.resolve("end")), copy_of(Bytes(whole).subspan(1000)));
}

TEST_F(ArchiveWriterTest, StreamIsCopiedInPiecesOfAnySize) {
  const Blob data = pattern(3 * mebibyte + 4);
  writer_.add("w", data.size(), stream_of(data, 77777));
  EXPECT_TRUE(finished() == expected(data));
}

// Several tensors may follow each other in one stream, so none may take a byte of the next.
TEST_F(ArchiveWriterTest, StreamIsNeverAskedForMoreThanIsLeft) {
  const Blob data = pattern(mebibyte + 10);
  const StreamReader whole = stream_of(data, data.size());
  std::vector<std::size_t> asked;
  const StreamReader noted = [&](std::span<std::byte> buffer) {
    asked.push_back(buffer.size());
    return whole(buffer);
  };
  writer_.add("first", mebibyte + 6, noted);
  writer_.add("w", 4, noted);
  EXPECT_EQ(asked, (std::vector<std::size_t>{mebibyte, 6, 4}));
  writer_.finish(Bytes());
  const Archive archive = Archive::open(folder_ / "a");
  EXPECT_TRUE(std::ranges::equal(archive.resolve("w"), Bytes(data).last(4)));
}

TEST_F(ArchiveWriterTest, StreamOfNothingIsNotAsked) {
  const StreamReader never = [](std::span<std::byte>) -> std::size_t { throw std::logic_error("asked"); };
  EXPECT_NO_THROW(writer_.add("w", 0, never));
}

TEST_F(ArchiveWriterTest, RefusesStreamsOfAnotherSize) {
  const Blob data = pattern(1000);
  EXPECT_EQ(refusal_of_adding("w", 1001U, stream_of(data, 100)), (ErrorContext{Code::io_source_size, "w"}));
  EXPECT_EQ(refusal_of_adding("w", 4U, StreamReader())->code, Code::usage_argument);
  const StreamReader liar = [](std::span<std::byte> buffer) { return buffer.size() + 1; };
  EXPECT_EQ(refusal_of_adding("w", 10 * mebibyte, liar)->code, Code::usage_argument);
  expect_nothing_seen();
}

TEST_F(ArchiveWriterTest, StreamThatThrowsIsHeardAndLeavesNothing) {
  {
    ArchiveWriter other = ArchiveWriter::create(folder_ / "b");
    const StreamReader broken = [](std::span<std::byte>) -> std::size_t { throw std::domain_error("mine"); };
    EXPECT_THROW(other.add("w", 10, broken), std::domain_error);
  }
  expect_nothing_seen();
}

// `add` refuses them, not `finish`, when all weights have been written.
TEST_F(ArchiveWriterTest, BadReservedAndClashingNamesAreRefused) {
  EXPECT_EQ(refusal_of_adding("__A", Bytes()), (ErrorContext{Code::archive_name_reserved, "__A"}));
  EXPECT_EQ(refusal_of_adding("../w", Bytes()), (ErrorContext{Code::zip_name_part, "../w"}));
  EXPECT_EQ(error_of_adding("", Bytes())->path(), folder_ / "a");
  writer_.add("w", Bytes());
  EXPECT_EQ(refusal_of([&] { writer_.add("w", Bytes()); }), (ErrorContext{Code::zip_name_duplicate, "w"}));
}

TEST_F(ArchiveWriterTest, ModelOf2GiBIsRefused) {
  expect_error(error_if_any([&] { writer_.finish(AnnouncedSource(1ULL << 31U)); }),
               {.code = Code::archive_model_too_large, .path = folder_ / "a", .hint = Hint::lower_threshold});
  expect_nothing_seen();
}

TEST_F(ArchiveWriterTest, ReservedRoomIsNotPartOfTheFile) {
  writer_.reserve(10 * mebibyte);
  writer_.add("w", pattern(1024));
  EXPECT_EQ(finished(), smallest_archive().bytes);
}

TEST(CreatingAWriter, RefusesATargetThatExists) {
  const TempDir folder;
  folder.write_file("a", "old");
  EXPECT_EQ(code_of([&] { return ArchiveWriter::create(folder / "a"); }), Code::output_exists);
  ArchiveWriter writer =
      ArchiveWriter::create(folder / "a", {.output = {.overwrite = true, .sync = false}, .verify_model = false});
  EXPECT_EQ(folder.read_text("a"), "old");
  writer.finish(smallest_model());
  EXPECT_EQ(Archive::open(folder / "a").size(), 1U);
}

TEST(CreatingAWriter, RefusesAnImpossibleAlignment) {
  const TempDir folder;
  for (const std::uint64_t alignment : {0U, 1U, 32U, 63U, 65U, 96U, 65536U}) {
    EXPECT_EQ(code_of([&] { return ArchiveWriter::create(folder / "a", {.alignment = alignment}); }),
              Code::usage_argument);
    EXPECT_EQ(code_of([&] { return archive_size({}, 0, alignment); }), Code::usage_argument);
  }
}

TEST(CreatingAWriter, WaitsForAnEditOfTheArchiveThatItReplaces) {
  const TempDir folder;
  const auto path = folder.write_file("a", smallest_archive().bytes);
  const ArchiveEditor editor = ArchiveEditor::open(path);
  EXPECT_EQ(code_of([&] { return ArchiveWriter::create(path, {.output = {.overwrite = true}}); }), Code::archive_busy);
  EXPECT_EQ(code_of([&] { return ArchiveWriter::create(path); }), Code::output_exists);
}

TEST(CreatingAWriter, RefusesADryRunAndWritesNothing) {
  const TempDir folder;
  EXPECT_EQ(code_of([&] { return ArchiveWriter::create(folder / "a", {.output = {.dry_run = true}}); }),
            Code::usage_argument);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ReservingRoom, NamesAFullDisk) {
  const TempDir folder;
  const SmallDisk mount(folder.path(), 256U << 10U);
  if (!mount.mounted()) GTEST_SKIP() << "no small disk can be mounted here";
  {
    ArchiveWriter writer = ArchiveWriter::create(folder / "a");
    expect_error(error_if_any([&] { writer.reserve(mebibyte); }), {.code = Code::io_disk_full, .path = folder / "a"});
  }
  {
    ArchiveWriter writer = ArchiveWriter::create(folder / "a");
    EXPECT_EQ(code_of([&] { writer.add("w", pattern(mebibyte)); }), Code::io_disk_full);
  }
  EXPECT_EQ(folder.file_names(), Strings{});
}

TEST(ArchiveSize, OfMoreThanAFileHoldsIsRefusedAndDoesNotWrap) {
  using Sizes = std::vector<std::pair<std::string_view, std::uint64_t>>;
  constexpr std::uint64_t half = 1ULL << 60U;
  for (const Sizes& sizes :
       {Sizes{{"a", ~std::uint64_t{0}}}, Sizes{{"a", half + 1}}, Sizes{{"a", half}, {"b", half}}}) {
    EXPECT_EQ(code_of([&] { return archive_size(sizes, 1); }), Code::usage_argument);
  }
  EXPECT_EQ(code_of([&] { return archive_size({}, ~std::uint64_t{0}); }), Code::usage_argument);
}

TEST(ArchiveSize, OfMoreEntriesThanReadersTakeIsRefused) {
  std::vector<std::pair<std::string_view, std::uint64_t>> entries(OpenOptions().max_entries, {"w", 0});
  EXPECT_EQ(code_of([&] { return archive_size(entries, 1); }), Code::zip_limit_entries) << "and the model";
  entries.pop_back();
  EXPECT_NO_THROW(static_cast<void>(archive_size(entries, 1)));
}

TEST(ArchiveSize, IsTheSizeOfTheFile) {
  const std::vector<std::pair<std::string_view, std::uint64_t>> all = {
      {"a", 0}, {"a b.txt", 1}, {"folder/b", 70000}, {"large", mebibyte}, {"c", mebibyte - 1}, {"d", 4097}};
  for (const std::uint64_t alignment : {64U, 4096U, 32768U}) {
    for (std::size_t count = 0; count <= all.size(); ++count) {
      const TempDir folder;
      ArchiveWriter writer = ArchiveWriter::create(
          folder / "a", {.alignment = alignment, .output = {.sync = false}, .verify_model = false});
      for (std::size_t i = 0; i < count; ++i) writer.add(all[i].first, pattern(all[i].second));
      writer.finish(pattern(333));
      EXPECT_EQ(archive_size(std::span(all).first(count), 333, alignment), fs::file_size(folder / "a"));
    }
  }
}

// Writing files that are not archives, with the same guarantees.

}  // namespace
}  // namespace onnxar::testing
