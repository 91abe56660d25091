// The files of a model appear together: whatever fails, none is left, and never a model without its data.
#include "convert/publish.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <string>

#include "onnxar/convert.h"
#include "support/refusal.h"
#include "support/samples.h"
#include "support/special_files.h"
#include "support/system_calls.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FileSetTest : public ::testing::Test {
 protected:
  static SaveOptions synced(Format format) {
    SaveOptions options = saved_as(format);
    options.output.sync = true;
    return options;
  }

  /// Calls `save` again and again; the first, the second, ... sync fails, until all of them pass. After each failure
  /// the folder must be as it was. Returns the number of syncs.
  int fail_each_sync(const std::function<void()>& save) const {
    const std::vector<std::string> before = folder_.file_names();
    for (int passing = 0;; ++passing) {
      FileCallLog log;
      log.fail = [syncs = 0, passing](const FileCall& call) mutable {
        return call.kind == FileCall::Kind::sync && syncs++ == passing ? EIO : 0;
      };
      const auto failed = code_of([&] { save(); });
      if (!failed) return passing;
      EXPECT_EQ(failed, Code::io_failed);
      EXPECT_EQ(folder_.file_names(), before) << "sync " << passing;
      if (HasFailure()) return passing;  // what is left would make every later round fail
    }
  }

  TempDir folder_;
  std::filesystem::path input_ =
      folder_.write_file("in", archive_of(model_of({linked_floats("w", 256, "w")}),
                                          {zip_entry("w", pattern(1024)), zip_entry("a/b/c.txt", blob("c"))})
                                   .bytes);
};

TEST_F(FileSetTest, FailedSyncLeavesNeitherModelNorData) {
  if (!folders_are_synced()) GTEST_SKIP() << "this system syncs no folders";
  const int syncs = fail_each_sync([this] { unpack(input_, folder_ / "m.onnx", synced(Format::onnx_external)); });
  EXPECT_EQ(syncs, 4) << "two files; their folder, before and after the model has its name";
  EXPECT_THAT(folder_.file_names(), ElementsAre("in", "m.onnx", "w.bin"));
}

TEST_F(FileSetTest, ASyncThatFailsLeavesNoFolder) {
  if (!folders_are_synced()) GTEST_SKIP() << "this system syncs no folders";
  const int syncs = fail_each_sync([this] { unpack(input_, folder_ / "new/", synced(Format::onnx_inline)); });
  EXPECT_EQ(syncs, 7) << "two files; new, a and b; new with the model; the folder that holds new";
  EXPECT_THAT(folder_.file_names(), ElementsAre("in", "new/", "new/a/", "new/a/b/", "new/a/b/c.txt", "new/in.onnx"));
}

TEST_F(FileSetTest, ASyncThatFailsKeepsWhatReplacedOtherFiles) {
  if (!folders_are_synced()) GTEST_SKIP() << "this system syncs no folders";
  folder_.write_file("m.onnx", "old");
  folder_.write_file("w.bin", "old");
  SaveOptions options = synced(Format::onnx_external);
  options.output.overwrite = true;
  FileCallLog log;
  log.fail = [syncs = 0](const FileCall& call) mutable {
    return call.kind == FileCall::Kind::sync && syncs++ == 3 ? EIO : 0;
  };
  expect_error(error_if_any([&] { return unpack(input_, folder_ / "m.onnx", options); }),
               {.code = Code::io_failed, .says = {"the new file was written"}});
  EXPECT_EQ(folder_.read_file("w.bin"), pattern(1024));
  EXPECT_NE(folder_.read_text("m.onnx"), "old");
}

TEST_F(FileSetTest, ASyncThatFailsLeavesNoNewArchive) {
  if (!folders_are_synced()) GTEST_SKIP() << "this system syncs no folders";
  const int syncs = fail_each_sync([this] { pack(input_, folder_ / "new.onnxar", synced(Format::archive)); });
  EXPECT_EQ(syncs, 2) << "the file and its folder";
}

TEST_F(FileSetTest, ReplacedArchiveStaysIfItsFolderIsNotSynced) {
  if (!folders_are_synced()) GTEST_SKIP() << "this system syncs no folders";
  folder_.write_file("a.onnxar", "old");
  SaveOptions options = synced(Format::archive);
  options.output.overwrite = true;
  FileCallLog log;
  log.fail = [syncs = 0](const FileCall& call) mutable {
    return call.kind == FileCall::Kind::sync && syncs++ == 1 ? EIO : 0;
  };
  expect_error(error_if_any([&] { return pack(input_, folder_ / "a.onnxar", options); }),
               {.code = Code::io_failed, .says = {"the new file was written (do not repeat this)"}});
  EXPECT_TRUE(passed(check(folder_ / "a.onnxar", {.data = true})));
}

TEST_F(FileSetTest, WritesIntoFoldersThatAKilledCommandLeft) {
  std::filesystem::create_directories(folder_ / "new/a/b");
  std::filesystem::create_directories(folder_ / "new/other");
  unpack(input_, folder_ / "new/", saved_as(Format::onnx_inline));
  EXPECT_THAT(folder_.file_names(), ElementsAre("in", "new/", "new/a/", "new/a/b/", "new/a/b/c.txt", "new/in.onnx"));
}

/// Writes the files `a` and `b`; before they are published, `meanwhile` is called.
std::optional<Code> published(const TempDir& folder, const OutputOptions& options,
                              const std::function<void()>& meanwhile) {
  const base::Existing existing = options.overwrite ? base::Existing::replace : base::Existing::refuse;
  FileSet files(options, existing);
  for (const char* name : {"a", "b"}) {
    files.write(base::find_target(folder / name, existing), 3,
                [](base::BufferedOutput& out) { out.append(blob("new")); });
  }
  meanwhile();
  return code_of([&] { files.publish(); });
}

TEST(FileSet, KeepsForeignFileAndRemovesItsOwn) {
  const TempDir folder;
  EXPECT_EQ(published(folder, OutputOptions{}, [&] { folder.write_file("b", "another's"); }), Code::output_exists);
  EXPECT_THAT(visible_names(folder), ElementsAre("b"));
  EXPECT_EQ(folder.read_text("b"), "another's");
}

TEST(FileSet, FilesThatReplacedOthersStay) {
  const TempDir folder;
  folder.write_file("a", "old");
  EXPECT_TRUE(published(folder, {.overwrite = true}, [&] { std::filesystem::create_directory(folder / "b"); }));
  EXPECT_EQ(folder.read_text("a"), "new");
}

TEST(FileSet, NothingIsLeftOfFilesThatAreNotPublished) {
  const TempDir folder;
  {
    const OutputOptions options;
    FileSet files(options, base::Existing::refuse);
    files.make_folder(base::Folder::open(folder.path()), "new");
    files.write("deep/a", 3, [](base::BufferedOutput& out) { out.append(blob("new")); });
    EXPECT_TRUE(std::filesystem::exists(folder / "new/deep"));
  }
  EXPECT_THAT(folder.file_names(), IsEmpty());
}

}  // namespace
}  // namespace onnxar::testing
