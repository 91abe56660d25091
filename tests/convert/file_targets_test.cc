// The places of the files of an output.
#include "convert/file_targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "onnxar/options.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

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

}  // namespace
}  // namespace onnxar::testing
