// The files of a model appear together: whatever fails, none is left, and never a model without its data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
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

TEST_F(FileSetTest, ASyncThatFailsLeavesNeitherTheModelNorItsData) {
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
  EXPECT_EQ(code_of([&] { return unpack(input_, folder_ / "m.onnx", options); }), Code::io_failed);
  EXPECT_EQ(folder_.read_file("w.bin"), pattern(1024));
  EXPECT_NE(folder_.read_text("m.onnx"), "old");
}

}  // namespace
}  // namespace onnxar::testing
