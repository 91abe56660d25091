// Other processes change the output while it is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/open_file.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "support/samples.h"
#include "support/special_files.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

/// Unpacks an archive with a side file in a folder; `meanwhile` runs after all files are written, before one has its
/// name.
class OutputRaceTest : public ::testing::Test {
 protected:
  Error error_with(const std::function<void()>& meanwhile) {
    SaveOptions options = saved_as(Format::onnx_inline);
    options.progress = [&, done_before = false](std::uint64_t done, std::uint64_t total) mutable {
      if (done == total && !std::exchange(done_before, true)) meanwhile();
    };
    return error_of([&] { pack_or_unpack(input_, folder_ / "new/", options); });
  }

  [[nodiscard]] std::vector<std::string> names_in(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / name)) {
      names.push_back(entry.path().filename().string());
      if (is_name_of_the_unseen(names.back())) names.pop_back();
    }
    return names;
  }

  TempDir folder_;
  fs::path input_ = folder_.write_file(
      "in", archive_of(model_of({linked_floats("w", 256, "w")}),
                       {zip_entry("w", pattern(1024)), zip_entry("d/authorized_keys", blob("a stranger's key"))})
                .bytes);
};

TEST_F(OutputRaceTest, FolderSwappedForALinkIsNotFollowed) {
  ONNXAR_NEEDS_SYMLINKS();
  fs::create_directory(folder_ / "victim");
  const Error error = error_with([this] {
    fs::rename(folder_ / "new/d", folder_ / "new/gone");
    make_symlink(folder_ / "victim", folder_ / "new/d");
  });
  EXPECT_EQ(error.code(), Code::io_changed);
  EXPECT_EQ(error.path(), folder_ / "new/d");
  EXPECT_THAT(names_in("victim"), ::testing::IsEmpty());
  EXPECT_THAT(names_in("new"), ::testing::UnorderedElementsAre("d", "gone"));
}

TEST_F(OutputRaceTest, AFolderThatIsSwappedForAnotherOneGetsNothing) {
  const Error error = error_with([this] {
    fs::rename(folder_ / "new/d", folder_ / "new/gone");
    fs::create_directory(folder_ / "new/d");
  });
  EXPECT_EQ(error.code(), Code::io_changed);
  EXPECT_THAT(names_in("new"), ::testing::UnorderedElementsAre("gone"));
}

TEST_F(OutputRaceTest, OutputFolderSwappedForALinkIsNotFollowed) {
  ONNXAR_NEEDS_SYMLINKS();
  fs::create_directory(folder_ / "victim");
  const Error error = error_with([this] {
    fs::rename(folder_ / "new", folder_ / "moved");
    make_symlink(folder_ / "victim", folder_ / "new");
  });
  EXPECT_EQ(error.code(), Code::io_changed);
  EXPECT_THAT(names_in("victim"), ::testing::IsEmpty());
}

// The folder was empty before.
TEST_F(OutputRaceTest, MovedOutputFolderStillGetsAllFiles) {
  ONNXAR_NEEDS_SYMLINKS();
  fs::create_directories(folder_ / "victim");
  fs::create_directories(folder_ / "new");
  SaveOptions options = saved_as(Format::onnx_inline);
  options.progress = [&, swapped = false](std::uint64_t, std::uint64_t) mutable {
    if (std::exchange(swapped, true)) return;
    fs::rename(folder_ / "new", folder_ / "moved");
    make_symlink(folder_ / "victim", folder_ / "new");
  };
  pack_or_unpack(input_, folder_ / "new/", options);
  EXPECT_THAT(names_in("victim"), ::testing::IsEmpty());
  EXPECT_THAT(names_in("moved"), ::testing::UnorderedElementsAre("d", "authorized_keys", "in.onnx"));
}

TEST_F(OutputRaceTest, LocksArchiveFromReadingToReplacing) {
  SaveOptions options = saved_as(Format::archive);
  options.output.overwrite = true;
  std::vector<os::Locking> locking;
  options.progress = [&](std::uint64_t, std::uint64_t) {
    const os::File editor = base::open_file(input_, os::Access::read);
    locking.push_back(os::try_lock(editor, os::Lock::exclusive));
  };
  pack_or_unpack(input_, input_, options);
  EXPECT_THAT(locking, ::testing::Each(os::Locking::busy));
  EXPECT_FALSE(locking.empty());
}

/// Tries to lock a file as an edit does, whenever a writer asks for the size.
class LockProbe final : public ByteSource {
 public:
  explicit LockProbe(fs::path path) : path_(std::move(path)) {}
  [[nodiscard]] std::uint64_t size() const override {
    const os::File editor = base::open_file(path_, os::Access::read);
    locking_.push_back(os::try_lock(editor, os::Lock::exclusive));
    return 0;
  }
  void read(const ByteSink& /*sink*/) const override {}
  [[nodiscard]] const std::vector<os::Locking>& locking() const { return locking_; }

 private:
  fs::path path_;
  mutable std::vector<os::Locking> locking_;
};

TEST_F(OutputRaceTest, LocksOutputWhoseSideFilesAreKept) {
  const auto probe = std::make_shared<LockProbe>(input_);
  SaveOptions options = saved_as(Format::archive);
  options.output.overwrite = true;
  options.side_files_of = input_;
  options.add = {{.name = "added.json", .source = probe}};
  pack(model_of({floats("w", 256, 1)}).view(), input_, options);
  EXPECT_THAT(probe->locking(), ::testing::Each(os::Locking::busy));
  EXPECT_FALSE(probe->locking().empty());
}

TEST_F(OutputRaceTest, ReportsArchiveThatChangesDuringTheCopy) {
  ONNXAR_NEEDS_CHANGE_OF_MAPPED_FILES();
  constexpr std::size_t count = 5U << 20U;  // floats: more than one step of progress
  const auto edit = [&](std::uint32_t seed) {
    ArchiveEditor editor = ArchiveEditor::open(input_, {.output = {.sync = false}});
    editor.add("v", pattern(4 * count, seed));
    editor.commit(model_of({linked_floats("w", 256, "w"), linked_floats("v", count, "v")}).view());
  };
  edit(1);
  for (const Format format : {Format::archive, Format::onnx_inline, Format::onnx_external}) {
    SaveOptions options = saved_as(format);
    options.progress = [&, changed = false](std::uint64_t, std::uint64_t) mutable {
      if (std::exchange(changed, true)) return;
      undo(input_, {.sync = false, .dry_run = false});
      edit(static_cast<std::uint32_t>(2 + static_cast<int>(format)));
    };
    EXPECT_EQ(error_of([&] { pack_or_unpack(input_, folder_ / "out", options); }).code(), Code::io_changed);
    EXPECT_THAT(folder_.file_names(), ::testing::ElementsAre("in"));
  }
}

TEST_F(OutputRaceTest, AFileThatIsNotToBeReplacedIsNotLocked) {
  SaveOptions options = saved_as(Format::archive);
  options.progress = [&](std::uint64_t, std::uint64_t) {
    const os::File editor = base::open_file(input_, os::Access::read);
    EXPECT_EQ(os::try_lock(editor, os::Lock::exclusive), os::Locking::done);
  };
  pack_or_unpack(input_, folder_ / "other", options);
}

}  // namespace
}  // namespace onnxar::testing
