// Editing an archive in place, through the public interface.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "archive/editing.h"
#include "archive/front_end.h"
#include "base/parallel.h"
#include "onnxar/archive_writer.h"
#include "support/child.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;
using NamesAndSizes = std::vector<std::pair<std::string_view, std::uint64_t>>;

/// tests/archive/model_proof_writers_test.cc tests the proof of models.
constexpr EditOptions of_any_model = {.output = {.sync = false}, .verify_model = false};

TEST_F(EditTest, KeepsFileThatReplacedTheArchive) {
  for (const Built& first : {smallest_archive(), model_alone()}) {
    start_with(first);
    const Blob other = append_edit(smallest_archive(), new_model()).bytes;
    const auto refused = refusal_of([&] {
      ArchiveEditor open = editor(of_any_model);
      fs::rename(folder_.write_file("b", other), path_);
      open.commit(new_model());
    });
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code, Code::io_changed);
    EXPECT_EQ(now(), other);
    EXPECT_EQ(folder_.file_names(), Strings{"a"});
  }
}

TEST_F(EditTest, OtherModelIsAppendedAsTheBuilderDoes) {
  editor().commit(new_model());
  EXPECT_EQ(now(), append_edit(before_, new_model()).bytes);
  editor({.output = {.sync = true}}).commit(smallest_model());
  EXPECT_EQ(now(), append_edit(append_edit(before_, new_model()), smallest_model()).bytes);
}

TEST_F(EditTest, EntriesAreAppendedAsTheBuilderDoes) {
  const Blob large = pattern((std::size_t{1} << 20U) + 5, 3);
  const TempDir other;
  const fs::path source = other.write_file("source", pattern(300, 2));
  {
    ArchiveEditor open = editor();
    open.add("b", pattern(5, 1));
    open.add("folder/c", FileRange{source, 100, 200});
    open.add("large", large.size(), [rest = Bytes(large)](std::span<std::byte> buffer) mutable {
      const std::size_t count = std::min(rest.size(), buffer.size());
      std::ranges::copy(rest.first(count), buffer.begin());
      rest = rest.subspan(count);
      return count;
    });
    open.commit(new_model());
  }
  const Blob all = pattern(300, 2);
  const Blob range(all.begin() + 100, all.end());
  EXPECT_EQ(now(), append_edit(before_, new_model(),
                               {zip_entry("b", pattern(5, 1)), zip_entry("folder/c", range), zip_entry("large", large)})
                       .bytes);
}

TEST_F(EditTest, AlignmentIsThatOfTheArchive) {
  for (const std::size_t alignment : {64U, 256U, 4096U, 32768U}) {
    ZipBuilder builder = smallest_builder();
    builder.alignment = alignment;
    start_with(builder.build_placed());
    {
      ArchiveEditor open = editor();
      open.add("b", pattern(5));
      open.commit(new_model());
    }
    ZipBuilder edit = edit_builder(before_, new_model(), {zip_entry("b", pattern(5))});
    edit.alignment = alignment;
    EXPECT_EQ(now(), edit.build()) << alignment;
  }
}

TEST_F(EditTest, IgnoresDefaultAlignmentOfLargeEntries) {
  ZipBuilder builder;
  builder.entries = {zip_entry("large", pattern(std::size_t{2} << 20U)),
                     zip_entry(model_entry, pattern(std::size_t{1} << 20U))};
  start_with(builder.build_placed());
  editor(of_any_model).commit(new_model());
  EXPECT_EQ(now(), append_edit(before_, new_model()).bytes);
}

TEST_F(EditTest, Zip64EndRecordsStay) {
  ZipBuilder builder = smallest_builder();
  builder.force_zip64 = true;
  start_with(builder.build_placed());
  ZipBuilder edit = edit_builder(before_, new_model(), {zip_entry("b", pattern(5))});
  edit.force_zip64 = true;
  ArchiveEditor open = editor();
  EXPECT_EQ(open.size_with(NamesAndSizes{{"b", 5}}, new_model().size()), edit.build().size());
  open.reserve(70000);
  EXPECT_EQ(now(), before_.bytes) << "room is no part of the file";
  open.add("b", pattern(5));
  open.commit(new_model());
  EXPECT_EQ(now(), edit.build());
}

TEST_F(EditTest, DirectoryHeadersStayAsTheyAre) {
  ZipBuilder builder = smallest_builder();
  builder.entry("w").in_both([](HeaderFields& header) {
    header.time = std::uint16_t{0x1234};
    header.version_needed = std::uint16_t{20};
  });
  builder.entry("w").force_zip64_offset = true;
  start_with(builder.build_placed());
  editor().commit(new_model());
  EXPECT_EQ(now(), append_edit(before_, new_model()).bytes);
}

TEST_F(EditTest, RewritesArchiveWithoutOtherEntries) {
  start_with(model_alone());
  const auto reader = Archive::open(path_);
  {
    ArchiveEditor open = editor(of_any_model);
    EXPECT_EQ(open.size_with(NamesAndSizes{{"b", 5}}, new_model().size()),
              archive_size(NamesAndSizes{{"b", 5}}, new_model().size()));
    open.add("b", pattern(5));
    EXPECT_EQ(now(), before_.bytes);
    open.commit(new_model());
  }
  ZipBuilder anew;
  anew.entries = {zip_entry("b", pattern(5)), zip_entry(model_entry, new_model())};
  EXPECT_EQ(now(), anew.build());
  EXPECT_TRUE(std::ranges::equal(reader.file(), before_.bytes)) << "who has the old one keeps it";
  EXPECT_EQ(visible_names(folder_), Strings{"a"});
}

TEST_F(EditTest, EditorShowsTheStateBefore) {
  ArchiveEditor open = editor();
  EXPECT_EQ(open.archive().size(), 2U);
  open.add("b", pattern(5));
  open.commit(new_model());
  EXPECT_TRUE(std::ranges::equal(open.archive().file(), before_.bytes));
}

TEST_F(EditTest, DestroyedEditorTruncatesWhatItAppended) {
  {
    ArchiveEditor open = editor();
    open.add("b", pattern(std::size_t{3} << 20U));
    EXPECT_GT(fs::file_size(path_), before_.bytes.size());
  }
  expect_unchanged();
}

TEST_F(EditTest, AssignedEditorTruncatesWhatItAppended) {
  const TempDir other;
  ArchiveEditor open = editor();
  open.add("b", pattern(std::size_t{3} << 20U));
  open = ArchiveEditor::open(other.write_file("a", before_.bytes), {.output = {.sync = false}});
  expect_unchanged();
  open.commit(new_model());
  EXPECT_EQ(other.read_file("a"), append_edit(before_, new_model()).bytes);
}

TEST_F(EditTest, EditorThatAddsNothingDoesNotTouchTheFile) {
  const auto long_ago = fs::last_write_time(path_) - std::chrono::hours(1);
  fs::last_write_time(path_, long_ago);
  {
    const ArchiveEditor open = editor();
  }
  EXPECT_EQ(fs::last_write_time(path_), long_ago);
  expect_unchanged();
}

TEST_F(EditTest, EditThatIsAbandonedLeavesTheFileAsItWas) {
  ONNXAR_NEEDS_CHANGE_OF_MAPPED_FILES();
  const auto edit = [&] {
    ArchiveEditor open = editor();
    open.add("b", pattern(std::size_t{3} << 20U));
    abandon_edits();
    const auto code = code_of([&] { open.commit(new_model()); });
    expect_unchanged();
    return code == Code::io_failed && !HasFailure() ? 0 : 1;
  };
  ONNXAR_EXPECT_IN_CHILD(edit, 0);
}

TEST_F(EditTest, NamesThatAreTakenAreRefused) {
  start_with(append_edit(before_, new_model(), {zip_entry("Folder/x", pattern(5)), zip_entry("unused", pattern(5))}));
  const auto adding = [](const std::string& name) { return [name](ArchiveEditor& open) { open.add(name, Bytes()); }; };
  EXPECT_EQ(refusal(adding("w")), (ErrorContext{Code::zip_name_duplicate, "w"}));
  for (const std::string name : {"W", "folder/X", "UNUSED"}) {
    EXPECT_EQ(refusal(adding(name)), (ErrorContext{Code::zip_name_folded, name}));
  }
  for (const std::string name : {"folder", "w/y"}) {
    EXPECT_EQ(refusal(adding(name)), (ErrorContext{Code::zip_name_prefix, name}));
  }
  EXPECT_EQ(refusal(adding("__MODEL_PROTO")), (ErrorContext{Code::archive_name_reserved, "__MODEL_PROTO"}));
  EXPECT_EQ(refusal(adding("../x")), (ErrorContext{Code::zip_name_part, "../x"}));
}

TEST_F(EditTest, SourcesThatFailLeaveTheFileAsItWas) {
  const auto short_stream = [calls = 0](std::span<std::byte>) mutable { return std::size_t{calls++ == 0 ? 7U : 0U}; };
  EXPECT_EQ(refusal([&](ArchiveEditor& open) { open.add("b", 8, short_stream); }),
            (ErrorContext{Code::io_source_size, "b"}));
  const StreamReader thrower = [](std::span<std::byte>) -> std::size_t { throw std::runtime_error("from below"); };
  EXPECT_THROW(editor().add("b", 8, thrower), std::runtime_error);
  expect_unchanged();
}

TEST_F(EditTest, ADryRunKnowsTheSizeAndWritesNothing) {
  const NamesAndSizes added = {{"b", 5000}};
  const std::uint64_t size = editor().size_with(added, 100);
  ArchiveEditor open = editor({.output = {.dry_run = true}});
  EXPECT_EQ(open.size_with(added, 100), size);
  EXPECT_EQ(code_of([&] { open.add("b", Bytes()); }), Code::usage_argument);
  EXPECT_EQ(open.size_with(added, 100), size);
  expect_unchanged();
}

TEST_F(EditTest, DryRunsExcludeEditsButNotEachOther) {
  const EditOptions dry = {.output = {.dry_run = true}};
  const ArchiveEditor first = editor(dry);
  const ArchiveEditor second = editor(dry);
  expect_error(error_if_any([&] { return editor(); }), {.code = Code::archive_busy, .path = path_});
}

// K8: a link to the file could be taken for one to the entry.
TEST_F(EditTest, NoEntryGetsTheNameOfTheArchivesFile) {
  fs::create_symlink(path_, folder_ / "link");
  const auto refused = [this](std::string_view opened, std::string_view name) {
    ArchiveEditor open = ArchiveEditor::open(folder_ / opened, {.output = {.sync = false}});
    const NamesAndSizes sizes = {{name, 1}};
    EXPECT_EQ(code_of([&] { return open.size_with(sizes, 1); }), Code::usage_own_name);
    return code_of([&] { open.add(name, pattern(1)); });
  };
  EXPECT_EQ(refused("a", "A"), Code::usage_own_name);
  EXPECT_EQ(refused("link", "a"), Code::usage_own_name) << "links may use the name of the file";
  EXPECT_EQ(refused("link", "Link"), Code::usage_own_name) << "and that of the symbolic link";
  EXPECT_EQ(now(), before_.bytes);
  folder_.write_file("w", before_.bytes);
  EXPECT_EQ(code_of([&] { return ArchiveEditor::open(folder_ / "w"); }), Code::usage_own_name);
}

TEST_F(EditTest, OnlyArchivesAreEdited) {
  start_with({.bytes = blob("no archive, but long enough for one")});
  EXPECT_EQ(code_of([&] { return editor(); }), Code::zip_end_missing);
  EXPECT_EQ(code_of([&] { return ArchiveEditor::open(folder_ / "none"); }), Code::io_not_found);
  EXPECT_EQ(code_of([&] { return ArchiveEditor::open(folder_.path()); }), Code::io_not_a_file);
  expect_unchanged();
}

// --- Two at once -----------------------------------------------------------------------------------------------------

TEST_F(EditTest, SecondEditorWaitsForAMoment) {
  auto open = std::make_unique<ArchiveEditor>(editor());
  base::JoinedThread second([&] { editor().commit(smallest_model()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  open->commit(new_model());
  open.reset();
  second.join();
  EXPECT_EQ(now(), append_edit(append_edit(before_, new_model()), smallest_model()).bytes);
}

TEST_F(EditTest, ReaderSeesTheOldStateUntilSomethingIsAppended) {
  ArchiveEditor open = editor();
  EXPECT_EQ(Archive::open(path_).size(), 2U);
  open.add("b", pattern(std::size_t{3} << 20U));
  expect_error(error_if_any([&] { return Archive::open(path_).size(); }),
               {.code = Code::archive_busy, .path = path_, .says = {"try again"}});
  open.commit(new_model());
  EXPECT_EQ(Archive::open(path_).size(), 3U);
}

TEST_F(EditTest, FullDiskLeavesTheFileAsItWas) {
  const TempDir small;
  const SmallDisk mount(small.path(), 256U << 10U);
  if (!mount.mounted()) GTEST_SKIP() << "no small disk can be mounted here";
  const fs::path path = small.write_file("a", before_.bytes);
  const std::size_t too_much = std::size_t{1} << 20U;
  {
    ArchiveEditor open = ArchiveEditor::open(path);
    EXPECT_EQ(code_of([&] { open.reserve(open.size_with(NamesAndSizes{{"b", too_much}}, 5)); }), Code::io_disk_full);
    EXPECT_EQ(small.read_file("a"), before_.bytes);
  }
  {
    ArchiveEditor open = ArchiveEditor::open(path);
    EXPECT_EQ(code_of([&] { open.add("b", pattern(too_much)); }), Code::io_disk_full);
  }
  EXPECT_EQ(small.read_file("a"), before_.bytes);
  EXPECT_EQ(code_of([&] { ArchiveEditor::open(path).commit(pattern(too_much)); }), Code::io_disk_full);
  EXPECT_EQ(small.read_file("a"), before_.bytes);
  EXPECT_EQ(small.file_names(), Strings{"a"});
}

}  // namespace
}  // namespace onnxar::testing
