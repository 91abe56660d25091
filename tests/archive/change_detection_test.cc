// Which changes of a file count as a change of the archive that was opened from it.
#include "archive/change_detection.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>

#include "archive/evidence.h"
#include "archive/opened.h"
#include "base/mapped_file.h"
#include "base/open_file.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

const Error& fault_of_format() {
  static const Error error(Code::zip_data_crc, "wrong", {"w", 64});
  return error;
}

/// Opened from a mapping, or from a copy, which remembers only the path.
class ChangeDetection : public ::testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] Archive open() const { return Archive::open(path_, {.copy_in = GetParam()}); }
  [[nodiscard]] bool found_after(const std::function<void()>& change) const {
    const Archive archive = open();
    EXPECT_FALSE(is_changed(archive));
    change();
    EXPECT_EQ(Evidence{.archive = &archive}(fault_of_format()).code(),
              is_changed(archive) ? Code::io_changed : Code::zip_data_crc);
    return is_changed(archive);
  }
  void put_in_its_place(const Blob& bytes) const {
    folder_.write_file("new", bytes);
    replace_file(folder_ / "new", path_);
  }

  TempDir folder_;
  Built built_ = smallest_archive();
  fs::path path_ = folder_.write_file("a.onnxar", built_.bytes);
};
INSTANTIATE_TEST_SUITE_P(Either, ChangeDetection, ::testing::Bool());

TEST_P(ChangeDetection, AFileThatGrewWasEditedAndAnyOtherChangeCounts) {
  if (!GetParam()) ONNXAR_NEEDS_CHANGE_OF_MAPPED_FILES();
  const auto write = [this](const Blob& bytes) { folder_.write_file("a.onnxar", bytes); };
  const Blob longer = edited(built_, "next").bytes;
  EXPECT_FALSE(found_after([&] { write(longer); }));
  write(built_.bytes);
  EXPECT_TRUE(found_after([this] { fs::resize_file(path_, built_.bytes.size() - 1); })) << "it is shorter";
  write(built_.bytes);
  Blob other = longer;
  flip_bit(other, built_.directory_offset + 16);  // a CRC-32
  EXPECT_TRUE(found_after([&] { write(other); })) << "it has another directory";
  write(built_.bytes);
  EXPECT_TRUE(found_after([this] { fs::remove(path_); })) << "it is gone";
}

// An undo and a second edit can restore the directory, with other bytes in the model.
TEST_P(ChangeDetection, ModelOfMappingMayDifferInFileThatGrew) {
  if (!GetParam()) ONNXAR_NEEDS_CHANGE_OF_MAPPED_FILES();
  const Archive archive = open();
  const Error error(Code::wire_tag, "wrong");
  EXPECT_EQ(Evidence{.archive = &archive}(error).code(), Code::wire_tag);
  folder_.write_file("a.onnxar", edited(built_, "next").bytes);
  EXPECT_EQ(Evidence{.archive = &archive}(error).code(), GetParam() ? Code::wire_tag : Code::io_changed);
  EXPECT_EQ(Evidence{.archive = &archive}(fault_of_format()).code(), Code::zip_data_crc);
}

// For a copy it counts only if its directory differs.
TEST_P(ChangeDetection, FileThatTookTheNameCountsForMappings) {
  const bool copied = GetParam();
  EXPECT_EQ(found_after([this] { put_in_its_place(built_.bytes); }), !copied);
  EXPECT_TRUE(found_after([this] { put_in_its_place(Blob(built_.bytes.size())); }));
}

TEST_P(ChangeDetection, EditedCopyThatTookTheNameCountsForMappings) {
  const bool copied = GetParam();
  EXPECT_EQ(found_after([this] { put_in_its_place(edited(built_, "next").bytes); }), !copied);
}

TEST_P(ChangeDetection, ErrorsThatAreNotOfTheFormatStayAsTheyAre) {
  const Archive archive = open();
  fs::remove(path_);
  const Error not_found(Code::io_not_found, "none");
  EXPECT_EQ(Evidence{.archive = &archive}(not_found).code(), Code::io_not_found);
}

TEST(ChangedArchive, WasReadInOneStateUnlessItsOwnFileWasCut) {
  ONNXAR_NEEDS_CHANGE_OF_MAPPED_FILES();
  const TempDir folder;
  const Blob bytes = smallest_archive().bytes;
  const auto found_after = [&](const std::function<void(const fs::path&)>& change) {
    const fs::path path = folder.write_file("a.onnxar", bytes);
    const Archive archive = Archive::open(path);
    EXPECT_NO_THROW(expect_not_cut(archive));
    change(path);
    return code_of([&] { expect_not_cut(archive); });
  };
  EXPECT_EQ(found_after([&](const fs::path& path) { fs::resize_file(path, bytes.size() - 1); }), Code::io_changed);
  EXPECT_EQ(found_after([](const fs::path& path) { fs::remove(path); }), std::nullopt);
  EXPECT_EQ(found_after([&](const fs::path& path) { fs::rename(folder.write_file("new", "another"), path); }),
            std::nullopt);
}

TEST(ChangedArchive, IsNotChangedByItsOwnEditor) {
  const TempDir folder;
  const fs::path path = folder.write_file("a.onnxar", smallest_archive().bytes);
  ArchiveEditor editor = ArchiveEditor::open(path, {.output = {.sync = false}});
  editor.add("new", pattern(8 * mebibyte));
  EXPECT_GT(fs::file_size(path), mebibyte);
  EXPECT_EQ(Evidence{.archive = &editor.archive()}(Error(Code::wire_tag, "wrong")).code(), Code::wire_tag);
}

TEST(ChangedArchive, IsNotChangedByTheRoomThatItsEditorReserves) {
  const TempDir folder;
  const fs::path path = folder.write_file("a.onnxar", smallest_archive().bytes);
  fs::last_write_time(path, fs::last_write_time(path) - std::chrono::hours(1));  // so that the time changes in any case
  ArchiveEditor editor = ArchiveEditor::open(path, {.output = {.sync = false}});
  editor.reserve(8 * mebibyte);
  EXPECT_FALSE(is_changed(editor.archive()));
}

TEST(ChangedArchive, OnlyFaultsOfTheFormatMayComeFromAnEdit) {
  const TempDir folder;
  const fs::path path = folder.write_file("a.onnxar", smallest_archive().bytes);
  const auto mapping = base::MappedFile::open(path);
  const Evidence zip{.path = &path, .zip = &mapping};
  EXPECT_EQ(zip(fault_of_format()).code(), Code::zip_data_crc);
  const os::File editor = base::open_file(path, os::Access::read_and_write);
  ASSERT_EQ(os::try_lock(editor, os::Lock::exclusive), os::Locking::done);
  EXPECT_EQ(zip(fault_of_format()).code(), Code::archive_busy);
  EXPECT_EQ(zip(Error(Code::io_failed, "failed")).code(), Code::io_failed);
}

TEST(ChangedMapping, OfAnyFileExplainsAFaultOfTheFormat) {
  ONNXAR_NEEDS_CHANGE_OF_MAPPED_FILES();
  const TempDir folder;
  const fs::path path = folder.write_file("a", pattern(100));
  const auto mapping = base::MappedFile::open(path);
  const Evidence zip{.path = &path, .zip = &mapping};
  EXPECT_EQ(zip(fault_of_format()).code(), Code::zip_data_crc);
  fs::resize_file(path, 50);
  EXPECT_EQ(zip(fault_of_format()).code(), Code::io_changed);
  EXPECT_EQ(zip(Error(Code::io_failed, "failed")).code(), Code::io_failed);
  const Error of_output(Code::zip_data_crc, "wrong", {}, folder / "output");
  EXPECT_EQ(zip(of_output).code(), Code::zip_data_crc) << "it is not in the file that was changed";
}

TEST(ChangedMapping, BytesInMemoryDoNotChange) {
  const Archive archive = opened(smallest_archive().bytes);
  EXPECT_FALSE(is_changed(archive));
  EXPECT_NO_THROW(expect_not_cut(archive));
  EXPECT_EQ(Evidence{.archive = &archive}(fault_of_format()).code(), Code::zip_data_crc);
  EXPECT_EQ(Evidence{.archive = &archive}(Error(Code::wire_tag, "wrong")).code(), Code::wire_tag);
}

}  // namespace
}  // namespace onnxar::testing
