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
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Destination, AFolderEndsInASlashAndItsModelIsNamed) {
  const Destination folder = Destination::of("a/b/", "resnet.onnxar", Format::onnx_inline);
  EXPECT_TRUE(folder.is_folder());
  EXPECT_EQ(folder.path, "a/b");
  EXPECT_EQ(folder.model, "resnet.onnx");
  EXPECT_EQ(folder.folder_above(), "a");
  EXPECT_EQ(Destination::of("/", "", Format::onnx_external).path, "/");
  EXPECT_EQ(Destination::of("b/", "", Format::onnx_external).model, "model.onnx");
  EXPECT_EQ(Destination::of("b/", "unet/model", Format::onnx_external).model, "unet/model.onnx");
  EXPECT_EQ(Destination::of("b/", "x.onnxar", Format::textproto).model, "x.textproto");
}

TEST(Destination, AnArchiveIsAlwaysAFile) {
  EXPECT_FALSE(Destination::of("a/b/", "x.onnx", Format::archive).is_folder());
}

TEST(Destination, AFileIsInTheWorkingFolderIfItsPathNamesNone) {
  const Destination file = Destination::of("m.onnx", "x.onnxar", Format::onnx_inline);
  EXPECT_FALSE(file.is_folder());
  EXPECT_EQ(file.path, "m.onnx");
  EXPECT_EQ(file.folder_above(), ".");
}

class FileTargetsTest : public ::testing::Test {
 protected:
  [[nodiscard]] FileTargets in_folder() const { return {Destination{folder_ / "out", "m.onnx"}, OutputOptions{}}; }
  std::optional<Code> code_of_claim(FileTargets& targets, const std::string& name) const {
    return code_of([&] { targets.claim(name); });
  }

  TempDir folder_;
};

TEST_F(FileTargetsTest, NothingIsMade) {
  FileTargets targets = in_folder();
  targets.claim("a/b.txt");
  EXPECT_EQ(targets.folder_to_make(), folder_ / "out");
  EXPECT_EQ(targets.model().path, folder_ / "out/m.onnx");
  EXPECT_THAT(folder_.file_names(), IsEmpty());
}

TEST_F(FileTargetsTest, NamesThatDifferOnlyInCaseClash) {
  FileTargets targets = in_folder();
  targets.claim("a.txt");
  EXPECT_EQ(code_of_claim(targets, "A.TXT"), Code::usage_argument);
  EXPECT_EQ(code_of_claim(targets, "M.onnx"), Code::usage_argument);
  EXPECT_EQ(code_of_claim(targets, "b.txt"), std::nullopt);
}

TEST_F(FileTargetsTest, AFileMayNotHaveTheNameOfAFolder) {
  FileTargets targets = in_folder();
  targets.claim("a/b.txt");
  EXPECT_EQ(code_of_claim(targets, "A"), Code::usage_argument);
  targets.claim("c");
  for (const std::string name : {"c/d.txt", "m.onnx/d.txt"}) {
    const std::optional<Error> error = error_if_any([&] { targets.claim(name); });
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(error->code(), Code::usage_argument);
    EXPECT_THAT(error->message(), HasSubstr("is in a folder with the name of another file"));
  }
}

TEST_F(FileTargetsTest, AFolderWithFilesIsRefused) {
  folder_.write_file("out/other", "x");
  EXPECT_EQ(code_of([&] { return in_folder().existing(); }), Code::output_not_empty);
}

TEST_F(FileTargetsTest, AcceptsFolderThatHasOnlyFolders) {
  std::filesystem::create_directories(folder_ / "out/a/b");
  std::filesystem::create_directories(folder_ / "out/c");
  EXPECT_EQ(code_of([&] { return in_folder().existing(); }), std::nullopt);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "out/a/b")) << "a plan changes nothing";
  folder_.write_file("out/a/b/file", "");
  EXPECT_EQ(code_of([&] { return in_folder().existing(); }), Code::output_not_empty);
}

TEST_F(FileTargetsTest, RefusesFolderWithLinkToFolder) {
  ONNXAR_NEEDS_SYMLINKS();
  std::filesystem::create_directories(folder_ / "out/a");
  make_symlink("..", folder_ / "out/a/link");
  EXPECT_EQ(code_of([&] { return in_folder().existing(); }), Code::output_not_empty);
}

TEST_F(FileTargetsTest, DoesNotWriteThroughALinkBesideAFile) {
  ONNXAR_NEEDS_SYMLINKS();
  folder_.write_file("elsewhere", "x");
  make_symlink("elsewhere", folder_ / "m.onnx.data");
  FileTargets targets(Destination{folder_ / "m.onnx", {}}, {.overwrite = true});
  EXPECT_EQ(code_of_claim(targets, "m.onnx.data"), Code::usage_argument);
}

TEST_F(FileTargetsTest, FilesAreReplacedOnlyWithTheOption) {
  folder_.write_file("m.data", "x");
  FileTargets careful(Destination{folder_ / "m.onnx", {}}, OutputOptions{});
  EXPECT_EQ(code_of_claim(careful, "m.data"), Code::output_exists);
  FileTargets bold(Destination{folder_ / "m.onnx", {}}, {.overwrite = true});
  EXPECT_EQ(code_of_claim(bold, "m.data"), std::nullopt);
}

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
