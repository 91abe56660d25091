// Folders of links: where the archive and its side files are afterwards, and what is refused with nothing written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "onnxar/link.h"
#include "runtime/linking.h"
#include "support/refusal.h"
#include "support/special_files.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;

class LinkFolderTest : public LinkTest {
 protected:
  /// An archive with the graph `second.onnx` and a side file; both graphs use the weight `w`.
  void SetUp() override {
    start_with(archive_of(model_of({linked_floats("w", 300, "w")}),
                          {zip_entry("w", pattern(1200, 1)), zip_entry("config.json", blob("{}")),
                           zip_entry("second.onnx", model_of({linked_floats("w", 300, "w")}).view())}));
  }
  FolderLinkReport linked(ArchivePlace place, bool overwrite = false) {
    return link_folder(archive_, out_, {.output = {.overwrite = overwrite, .sync = false}}, place);
  }
  /// Expects this error, and that nothing was written.
  void expect_refused(const ExpectedError& expected, ArchivePlace place) {
    const std::vector<std::string> before = folder_.file_names();
    expect_error(error_if_any([&] { linked(place); }), expected);
    EXPECT_EQ(folder_.file_names(), before);
  }

  std::filesystem::path out_ = folder_ / "out";
};

TEST_F(LinkFolderTest, CopyServesEveryLink) {
  const FolderLinkReport report = linked(ArchivePlace::copied);
  EXPECT_EQ(report.links.size(), 2U);
  EXPECT_EQ(report.copies, 1U);
  EXPECT_EQ(report.side_files, 1U);
  EXPECT_THAT(folder_.file_names(),
              ElementsAre("out/", "out/config.json", "out/second.onnx", "out/x.onnx", "out/x.onnxar", "x.onnxar"));
  EXPECT_EQ(folder_.read_file("out/x.onnxar"), built_.bytes);
  EXPECT_TRUE(verify_link(out_ / "second.onnx"));
}

TEST_F(LinkFolderTest, MovedArchiveLeavesItsOldName) {
  EXPECT_EQ(linked(ArchivePlace::moved).copies, 0U);
  EXPECT_THAT(folder_.file_names(),
              ElementsAre("out/", "out/config.json", "out/second.onnx", "out/x.onnx", "out/x.onnxar"));
  EXPECT_TRUE(verify_link(out_ / "x.onnx"));
}

TEST_F(LinkFolderTest, DamagedSideFileStopsEverything) {
  flip_bit(built_.bytes, built_.entry("config.json").data_offset);
  start_with(built_);
  expect_refused({.code = Code::zip_data_crc, .entry = "config.json", .path = archive_}, ArchivePlace::copied);
}

TEST_F(LinkFolderTest, ExistingFileIsReplacedOnlyIfAllowed) {
  folder_.write_file("out/config.json", "mine");
  expect_refused({.code = Code::output_exists}, ArchivePlace::copied);
  EXPECT_EQ(folder_.read_text("out/config.json"), "mine");
  linked(ArchivePlace::copied, true);
  EXPECT_EQ(folder_.read_text("out/config.json"), "{}");
}

TEST_F(LinkFolderTest, InstallingNeedsAPackage) {
  expect_refused({.code = Code::usage_argument}, ArchivePlace::installed);
}

TEST_F(LinkFolderTest, NeverMovesASymbolicLink) {
  ONNXAR_NEEDS_SYMLINKS();
  std::filesystem::rename(archive_, folder_ / "real.onnxar");
  make_symlink("real.onnxar", archive_);
  expect_refused({.code = Code::usage_argument}, ArchivePlace::moved);
}

}  // namespace
}  // namespace onnxar::testing
