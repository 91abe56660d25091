// What the library exports for the command alone: files that are written whole, and alignments of any zip file.
#include "archive/front_end.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "onnxar/archive_writer.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

TEST(CheckAlignment, ReportsMisalignmentOfEachEntry) {
  const TempDir folder;
  ZipBuilder builder;
  builder.entries = {plain_entry(zip_entry("dir/", {})), plain_entry(zip_entry("a", pattern(10))),
                     plain_entry(deflated_entry("c", pattern(10))), zip_entry(model_entry, blob("m"))};
  const Built built = builder.build_placed();
  const fs::path path = folder.write_file("in", built.bytes);
  const auto entries = check_alignment(path, 64);
  ASSERT_EQ(entries.size(), 4U);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].name, built.entries[i].name);
    EXPECT_EQ(entries[i].offset, built.entries[i].data_offset);
  }
  using Kind = EntryAlignment::Kind;
  EXPECT_EQ(entries[0].kind, Kind::folder);
  EXPECT_EQ(entries[1].kind, Kind::stored);
  EXPECT_EQ(entries[1].off_by, built.entry("a").data_offset % 64);
  EXPECT_EQ(entries[2].kind, Kind::compressed);
  EXPECT_EQ(entries[2].off_by, 0U);
  EXPECT_EQ(entries[3].off_by, 0U);
  EXPECT_NE(check_alignment(path, 1U << 20U)[3].off_by, 0U);
  EXPECT_EQ(check_alignment(path, 1)[1].off_by, 0U);
}

TEST(CheckAlignment, RequiresAPowerOfTwo) {
  const TempDir folder;
  const fs::path path = folder.write_file("in", smallest_archive().bytes);
  for (const std::uint64_t alignment : {0U, 3U, 96U}) {
    EXPECT_EQ(code_of([&] { return check_alignment(path, alignment); }), Code::usage_argument);
  }
}

TEST(CheckAlignment, ABrokenZipIsRefusedWithItsPath) {
  const TempDir folder;
  const fs::path path = folder.write_file("in", "no zip");
  expect_error(error_if_any([&] { return check_alignment(path, 64); }), {.code = Code::zip_end_missing, .path = path});
}

TEST(WriteFile, AFileAppearsWholeAndReplacesNothingUnasked) {
  const TempDir folder;
  write_file(folder / "page", as_bytes("first"), {.sync = false});
  EXPECT_EQ(code_of([&] { write_file(folder / "page", as_bytes("second"), {.sync = false}); }), Code::output_exists);
  EXPECT_EQ(folder.read_text("page"), "first");
  write_file(folder / "page", as_bytes("second"), {.overwrite = true, .sync = false});
  EXPECT_EQ(folder.read_text("page"), "second");
  EXPECT_EQ(folder.file_names(), std::vector<std::string>{"page"});
}

TEST(WriteFile, AnArchiveThatIsBeingEditedIsNotReplaced) {
  const TempDir folder;
  const auto path = folder.write_file("a", smallest_archive().bytes);
  const ArchiveEditor editor = ArchiveEditor::open(path);
  EXPECT_EQ(code_of([&] { write_file(path, as_bytes("page"), {.overwrite = true}); }), Code::archive_busy);
}

TEST(WriteFile, DryRunFindsObstaclesAndWritesNothing) {
  const TempDir folder;
  write_file(folder / "page", as_bytes("bytes"), {.dry_run = true});
  EXPECT_TRUE(folder.file_names().empty());
  write_file(folder / "page", as_bytes("mine"), {.sync = false});
  EXPECT_EQ(code_of([&] { write_file(folder / "page", as_bytes("bytes"), {.dry_run = true}); }), Code::output_exists);
  EXPECT_EQ(code_of([&] { write_file(folder / "none/page", as_bytes("bytes"), {.dry_run = true}); }),
            Code::io_not_found);
}

}  // namespace
}  // namespace onnxar::testing
