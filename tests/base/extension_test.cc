// Bytes after the old end of a file, cut off again unless they are kept.
#include <gtest/gtest.h>

#include "base/open_file.h"
#include "base/output_file.h"
#include "os/output.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::base {
namespace {

using onnxar::testing::blob;
using onnxar::testing::TempDir;

void append_to_old(os::Handle file) {
  std::error_code failed;
  os::write_at(file, 3, blob("new"), {}, failed);
  ASSERT_FALSE(failed);
}

TEST(Extension, IsCutOffOnceItHasBegun) {
  const TempDir folder;
  const os::File file = open_file(folder.write_file("a", "old"), os::Access::read_and_write);
  Extension extension(3);
  EXPECT_EQ(extension.old_size(), 3U);
  extension.begin(file);
  append_to_old(file);
  extension.cut_off(file);
  EXPECT_EQ(folder.read_text("a"), "old");
}

TEST(Extension, LeavesAFileAloneThatItDidNotBeginToChange) {
  const TempDir folder;
  const os::File file = open_file(folder.write_file("a", "old and more"), os::Access::read_and_write);
  const Extension extension(3);
  extension.cut_off(file);
  EXPECT_EQ(folder.read_text("a"), "old and more");
}

TEST(Extension, AnErrorCutsOffEvenWhatASignalLeavesToReaders) {
  const TempDir folder;
  const os::File file = open_file(folder.write_file("a", "old"), os::Access::read_and_write);
  Extension extension(3);
  extension.begin(file);
  append_to_old(file);
  extension.leave_to_readers(file);
  EXPECT_EQ(folder.read_text("a"), "oldnew");
  extension.cut_off(file);
  EXPECT_EQ(folder.read_text("a"), "old");
}

}  // namespace
}  // namespace onnxar::base
