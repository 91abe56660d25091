#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "sink/publication.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

TEST_F(FileTargetsTest, BesideAFileNoLinkIsWrittenThrough) {
  ONNXAR_NEEDS_SYMLINKS();
  folder_.write_file("elsewhere", "x");
  make_symlink("elsewhere", folder_ / "m.onnx.data");
  FileTargets targets(Destination{folder_ / "m.onnx", {}}, {.overwrite = true});
  EXPECT_EQ(code_of_claim(targets, "m.onnx.data"), Code::usage_argument);
}

TEST_F(FileTargetsTest, FilesAreReplacedOnlyIfTheOptionsSaySo) {
  folder_.write_file("m.data", "x");
  FileTargets careful(Destination{folder_ / "m.onnx", {}}, OutputOptions{});
  EXPECT_EQ(code_of_claim(careful, "m.data"), Code::output_exists);
  FileTargets bold(Destination{folder_ / "m.onnx", {}}, {.overwrite = true});
  EXPECT_EQ(code_of_claim(bold, "m.data"), std::nullopt);
}

}  // namespace
}  // namespace onnxar::testing
