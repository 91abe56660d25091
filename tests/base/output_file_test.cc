// A file that appears whole or not at all.
#include "base/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/mapped_file.h"
#include "base/open_file.h"
#include "base/output_files.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using base::Existing;
using base::OutputFile;
using base::Sync;

std::optional<Error> error_of_creating(const fs::path& target, Existing existing = Existing::refuse) {
  return error_if_any([&] { return OutputFile::create(target, existing); });
}

TEST(OutputFile, NothingIsSeenBeforeItIsPublished) {
  const TempDir folder;
  OutputFile file = written(folder / "a", "text");
  EXPECT_EQ(visible_names(folder), Strings{});
  file.publish(Sync::full);
  EXPECT_EQ(visible_names(folder), Strings{"a"});
  EXPECT_EQ(folder.read_text("a"), "text");
}

TEST(OutputFile, DiscardedFileLeavesNothing) {
  const TempDir folder;
  {
    const OutputFile file = written(folder / "a", "text");
  }
  {
    OutputFile file = written(folder / "a", "text");
    file.prepare(Sync::full);
  }
  EXPECT_EQ(folder.file_names(), Strings{});
}

TEST(OutputFile, MappingOutlivesAFileThatNeverHadAName) {
  const TempDir folder;
  const base::MappedFile mapping = written(folder / "a", "text").map();
  EXPECT_EQ(as_text(mapping.bytes()), "text");
  EXPECT_EQ(visible_names(folder), Strings{});
}

TEST(OutputFile, RefusesToShareForeignOrUnalignedBytes) {
  const TempDir folder;
  const base::MappedFile source = base::MappedFile::open(folder.write_file("source", pattern(8191)));
  OutputFile file = written(folder / "a", "text");
  EXPECT_FALSE(file.share_at(0, pattern(8191), *source.origin()));
  EXPECT_TRUE(file.may_share());
  EXPECT_FALSE(file.share_at(1, source.bytes(), *source.origin()));  // no file system shares bytes off block borders
  EXPECT_FALSE(file.may_share());
  file.publish(Sync::none);
  EXPECT_EQ(folder.read_text("a"), "text");
}

TEST(OutputFile, RangesMayBeWrittenInAnyOrder) {
  const TempDir folder;
  OutputFile file = OutputFile::create(folder / "a", Existing::refuse);
  file.write_at(4, as_bytes("5678"));
  file.write_at(0, as_bytes("1234"));
  file.write_at(2, as_bytes("__"));
  file.publish(Sync::none);
  EXPECT_EQ(folder.read_text("a"), "12__5678");
}

TEST(OutputFile, ReservedSpaceIsTruncatedToTheSetSize) {
  const TempDir folder;
  OutputFile file = OutputFile::create(folder / "a", Existing::refuse);
  file.reserve(1U << 20U);
  file.write_at(0, as_bytes("text"));
  file.start_writeback(0, 4);
  file.set_size(4);
  file.publish(Sync::none);
  EXPECT_EQ(folder.read_text("a"), "text");
}

TEST(OutputFile, TargetThatExistsIsRefusedAtOnce) {
  const TempDir folder;
  folder.write_file("a", "old");
  expect_error(error_of_creating(folder / "a"),
               {.code = Code::output_exists, .path = folder / "a", .hint = Hint::overwrite});
  EXPECT_EQ(folder.read_text("a"), "old");
}

TEST(OutputFile, TargetThatAppearsIsNotReplaced) {
  const TempDir folder;
  OutputFile file = written(folder / "a", "mine");
  folder.write_file("a", "theirs");
  EXPECT_EQ(code_of_publishing(file), Code::output_exists);
  file = written(folder / "b", "");
  EXPECT_EQ(visible_names(folder), Strings{"a"});
  EXPECT_EQ(folder.read_text("a"), "theirs");
}

// Other hard links, and programs that have the old file open, keep it.
TEST(OutputFile, ReplacesOrCreatesTarget) {
  const TempDir folder;
  folder.write_file("a", "old");
  fs::create_hard_link(folder / "a", folder / "kept");
  for (const char* name : {"a", "new"}) written(folder / name, "new", Existing::replace).publish(Sync::none);
  EXPECT_EQ(folder.read_text("a"), "new");
  EXPECT_EQ(folder.read_text("kept"), "old");
  EXPECT_EQ(folder.file_names(), (Strings{"a", "kept", "new"}));
}

TEST(OutputFile, LinkIsFollowedAndStays) {
  ONNXAR_NEEDS_SYMLINKS();
  const TempDir folder;
  folder.write_file("real/a", "old");
  make_symlink("real/a", folder / "first");
  make_symlink(folder / "first", folder / "second");
  EXPECT_EQ(error_of_creating(folder / "second")->code(), Code::output_exists);
  OutputFile file = written(folder / "second", "new", Existing::replace);
  EXPECT_EQ(file.target(), folder / "real/a");
  file.publish(Sync::none);
  EXPECT_TRUE(fs::is_symlink(folder / "second"));
  EXPECT_EQ(folder.read_text("real/a"), "new");
  EXPECT_EQ(folder.file_names(), (Strings{"first", "real/", "real/a", "second"}));
}

TEST(OutputFile, DanglingLinkIsFollowed) {
  ONNXAR_NEEDS_SYMLINKS();
  const TempDir folder;
  fs::create_directory(folder / "real");
  make_symlink("real/a", folder / "link");
  written(folder / "link", "new").publish(Sync::none);
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(folder.read_text("real/a"), "new");
}

TEST(OutputFile, FolderStaysTheOneThatWasOpened) {
  ONNXAR_NEEDS_SYMLINKS();
  const TempDir folder;
  fs::create_directories(folder / "real");
  fs::create_directories(folder / "trap");
  for (const Existing existing : {Existing::refuse, Existing::replace}) {
    OutputFile file = OutputFile::create(folder / "real/a", existing);
    fs::rename(folder / "real", folder / "moved");
    make_symlink(folder / "trap", folder / "real");
    file.publish(Sync::none);
    EXPECT_TRUE(fs::exists(folder / "moved/a"));
    EXPECT_TRUE(fs::is_empty(folder / "trap"));
    fs::remove(folder / "real");
    fs::rename(folder / "moved", folder / "real");
    fs::remove(folder / "real/a");
  }
}

TEST(OutputFile, NamelessFileIgnoresNamesInTheFolder) {
  const TempDir folder;
  for (const char* name : {"onnxar", ".onnxar_inflated"}) fs::create_directory(folder / name);
  OutputFile file = OutputFile::create_nameless(folder.path());
  file.write_at(0, pattern(100));
  EXPECT_EQ(visible_names(folder).size(), 2U);
  const base::MappedFile mapping = file.map();
  EXPECT_EQ(mapping.bytes().size(), 100U);
}

TEST(OutputFile, LinksInACircleAreRefused) {
  ONNXAR_NEEDS_SYMLINKS();
  const TempDir folder;
  make_symlink("a", folder / "b");
  make_symlink("b", folder / "a");
  EXPECT_EQ(error_of_creating(folder / "a")->code(), Code::io_failed);
}

TEST(OutputFile, TargetThatBecameAFolderLeavesNoFile) {
  const TempDir folder;
  {
    OutputFile file = written(folder / "a", "text", Existing::replace);
    fs::create_directory(folder / "a");
    EXPECT_TRUE(code_of_publishing(file));
  }
  EXPECT_EQ(visible_names(folder), Strings{"a/"});
}

TEST(OutputFile, PublishesSeveralFilesAfterPreparingAll) {
  const TempDir folder;
  OutputFile first = written(folder / "a", "first");
  OutputFile second = written(folder / "b", "second");
  first.prepare(Sync::full);
  second.prepare(Sync::full);
  EXPECT_EQ(visible_names(folder), Strings{});
  first.publish(Sync::full);
  second.publish(Sync::full);
  EXPECT_EQ(visible_names(folder), (Strings{"a", "b"}));
  EXPECT_EQ(folder.read_text("b"), "second");
}

TEST(OutputFile, StagingNamesTheFileWhereItReplacesAnother) {
  const TempDir folder;
  folder.write_file("a", "old");
  OutputFile fresh = written(folder / "b", "fresh");
  fresh.stage();
  EXPECT_EQ(visible_names(folder), Strings{"a"});
  const std::size_t before = folder.file_names().size();  // 1 where files can be nameless
  {
    OutputFile discarded = written(folder / "a", "discarded", Existing::replace);
    discarded.stage();
    EXPECT_EQ(folder.file_names().size(), before + 1);
  }
  OutputFile file = written(folder / "a", "new", Existing::replace);
  file.stage();
  file.stage();
  EXPECT_EQ(folder.read_text("a"), "old");
  EXPECT_EQ(folder.file_names().size(), before + 1);
  file.publish(Sync::none);
  EXPECT_EQ(folder.read_text("a"), "new");
  EXPECT_EQ(visible_names(folder), Strings{"a"});
}

class ReplacedTargetTest : public ::testing::Test {
 protected:
  [[nodiscard]] os::File edited() const {
    os::File editor = base::open_file(target_, os::Access::read_and_write);
    EXPECT_EQ(os::try_lock(editor, os::Lock::exclusive), os::Locking::done);
    return editor;
  }
  [[nodiscard]] bool may_be_edited() const {
    return os::try_lock(base::open_file(target_, os::Access::read), os::Lock::exclusive) == os::Locking::done;
  }

  TempDir folder_;
  fs::path target_ = folder_.write_file("a", "old");
};

TEST_F(ReplacedTargetTest, IsNotReplacedWhileItIsEdited) {
  const os::File editor = edited();
  EXPECT_EQ(code_of([&] { return OutputFile::create(target_, Existing::replace); }), Code::archive_busy);
  EXPECT_EQ(code_of([&] { return OutputFile::create(target_, Existing::refuse); }), Code::output_exists);
}

TEST_F(ReplacedTargetTest, IsNotEditedUntilTheNewOneHasItsName) {
  OutputFile file = OutputFile::create(target_, Existing::replace);
  EXPECT_FALSE(may_be_edited());
  file.publish(Sync::none);
  EXPECT_TRUE(may_be_edited());
}

// Another file took the target's name meanwhile, and is being edited.
TEST_F(ReplacedTargetTest, RefusesNewTargetThatIsBeingEdited) {
  OutputFile file = OutputFile::create(target_, Existing::replace);
  replace_file(folder_.write_file("b", "another"), target_);
  {
    const os::File editor = edited();
    EXPECT_EQ(code_of([&] { file.publish(Sync::none); }), Code::archive_busy);
  }
  EXPECT_EQ(folder_.read_text("a"), "another");
}

// A parked file holds no lock, so the target may be edited.
TEST_F(ReplacedTargetTest, ParkedFileDoesNotReplaceEditedTarget) {
  OutputFile file = OutputFile::create(target_, Existing::replace);
  file.park(Sync::none);
  const os::File editor = edited();
  EXPECT_EQ(code_of([&] { file.publish(Sync::none); }), Code::archive_busy);
}

TEST_F(ReplacedTargetTest, IsReplacedByItsEditor) {
  const os::File editor = edited();
  OutputFile::create(target_, Existing::replace, base::duplicate(editor)).publish(Sync::none);
  EXPECT_EQ(folder_.read_text("a"), "");
}

TEST(OutputFile, InputThatIsShortenedWhileItIsCopiedIsAnError) {
  ONNXAR_NEEDS_CHANGE_OF_MAPPED_FILES();
  const TempDir folder;
  const auto input = base::MappedFile::open(folder.write_file("input", pattern(10000)));
  fs::resize_file(folder / "input", 0);
  OutputFile file = OutputFile::create(folder / "a", Existing::refuse);
  const auto error = error_if_any([&] { file.write_at(0, input.bytes()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::io_changed);
  EXPECT_EQ(error->message(), escaped_path(folder / "input") + " was shortened while it was copied");
}

TEST(OutputFile, MovedFileIsPublishedOnce) {
  const TempDir folder;
  OutputFile first = written(folder / "a", "text");
  OutputFile second = std::move(first);
  OutputFile third = written(folder / "discarded", "other");
  third = std::move(second);
  third.publish(Sync::none);
  EXPECT_EQ(folder.file_names(), Strings{"a"});
}

TEST(OutputFile, FullDiskIsNamed) {
  const TempDir folder;
  const SmallDisk disk(folder.path(), 64U << 10U);
  if (!disk.mounted()) GTEST_SKIP() << "this user may not mount a small tmpfs";
  OutputFile file = written(folder / "a", "text");
  expect_error(error_if_any([&] { file.write_at(0, pattern(1U << 20U)); }),
               {.code = Code::io_disk_full, .path = folder / "a"});
  EXPECT_EQ(folder.file_names(), Strings{});
}

TEST(OutputFile, FullDiskIsDetectedBeforeWriting) {
  const TempDir folder;
  const SmallDisk disk(folder.path(), 64U << 10U);
  if (!disk.mounted()) GTEST_SKIP() << "this user may not mount a small tmpfs";
  OutputFile file = OutputFile::create(folder / "a", Existing::refuse);
  EXPECT_EQ(code_of([&] { file.reserve(1U << 20U); }), Code::io_disk_full);
  file.reserve(0);
  file.reserve(32U << 10U);
}

// --- Extending -------------------------------------------------------------------------------------------------------

OutputFile extended(const TempDir& folder) {
  const fs::path path = folder.write_file("a", "old");
  OutputFile file = OutputFile::extend(base::open_file(path, os::Access::read_and_write), path, 3);
  file.write_at(3, as_bytes(" and "), as_bytes("new"));
  return file;
}

TEST(ExtendedFile, IsKeptWhenPublished) {
  const TempDir folder;
  extended(folder).publish(Sync::full);
  EXPECT_EQ(folder.read_text("a"), "old and new");
  extended(folder).publish(Sync::none);
  EXPECT_EQ(folder.read_text("a"), "old and new");
  EXPECT_EQ(folder.file_names(), Strings{"a"});
}

TEST(ExtendedFile, IsTruncatedWhenDiscarded) {
  const TempDir folder;
  {
    const OutputFile file = extended(folder);
    EXPECT_EQ(folder.read_text("a"), "old and new");
  }
  EXPECT_EQ(folder.read_text("a"), "old");
}

TEST(ExtendedFile, IsTruncatedOnceIfMoved) {
  const TempDir folder;
  OutputFile file = extended(folder);
  {
    OutputFile moved = std::move(file);
    EXPECT_EQ(folder.read_text("a"), "old and new");
    const TempDir other;
    moved = written(other / "b", "text");
    EXPECT_EQ(folder.read_text("a"), "old");
  }
}

TEST(ExtendedFile, ReservedRoomIsNotPartOfIt) {
  const TempDir folder;
  OutputFile file = extended(folder);
  file.reserve(1U << 20U);
  EXPECT_EQ(folder.read_text("a"), "old and new");
  file.reserve(2);  // less than the file has
  file.set_size(7);
  file.publish(Sync::none);
  EXPECT_EQ(folder.read_text("a"), "old and");
}

TEST(ExtendedFile, MissingSpaceIsDetected) {
  const TempDir folder;
  const SmallDisk disk(folder.path(), 64U << 10U);
  if (!disk.mounted()) GTEST_SKIP() << "this user may not mount a small tmpfs";
  {
    OutputFile file = extended(folder);
    EXPECT_EQ(code_of([&] { file.reserve(1U << 20U); }), Code::io_disk_full);
  }
  EXPECT_EQ(folder.read_text("a"), "old");
}

}  // namespace
}  // namespace onnxar::testing
