// Tests which entries of other archives are reused.
#include "remote/reuse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "archive/opened.h"
#include "base/byte_range.h"
#include "base/output_target.h"
#include "base/progress.h"
#include "support/refusal.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

/// Copies entries of an older archive into a download.
class ReuseTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<ReusableEntry> reusable() const { return reusable_entries(directory_, old_); }
  std::vector<bool> copied() {
    base::SharedProgress progress(no_progress_, new_.bytes.size());
    return copy_entries(reusable(), old_, directory_.entries().size(), part_, 1, progress);
  }
  /// Overwrites the older archive from `offset` on, in place.
  void overwrite(std::uint64_t offset, Bytes bytes) {
    std::vector<std::byte> file = folder_.read_file("old.onnxar");
    std::ranges::copy(bytes, file.begin() + static_cast<std::ptrdiff_t>(offset));
    folder_.write_file("old.onnxar", Bytes(file));
  }

  Built built_old_ = built_with({zip_entry("gone", pattern(9000)), zip_entry("kept", pattern(3U << 20U))});
  Built new_ = built_with(
      {zip_entry("added", pattern(5000)), zip_entry("renamed", pattern(3U << 20U)), zip_entry("small", pattern(100))});
  TempDir folder_;
  std::vector<OldArchive> old_ = opened_old();
  ProgressCallback no_progress_;
  PartFile part_{base::find_target(folder_ / "out.onnxar", base::Existing::refuse), "1", new_.bytes.size(),
                 base::Sync::none};
  zip::Directory directory_ = zip::Directory::read(new_.bytes, {});

 private:
  std::vector<OldArchive> opened_old() {
    std::vector<OldArchive> archives;
    archives.push_back(OldArchive::open(folder_.write_file("old.onnxar", Bytes(built_old_.bytes))));
    return archives;
  }
};

TEST_F(ReuseTest, CopiesEntriesOfEqualSizeAndSum) {
  EXPECT_EQ(copied(), (std::vector{false, true, false, false}));
  const std::uint64_t offset = new_.entry("renamed").data_offset;
  EXPECT_EQ(part_.ranges().ranges(), (std::vector<base::ByteRange>{{offset, 3U << 20U}}));
  const std::vector<std::byte> file = folder_.read_file(".out.onnxar.part");
  EXPECT_TRUE(std::ranges::equal(Bytes(file).subspan(offset, 3U << 20U), pattern(3U << 20U)));
}

// Fewer bytes cost less than another range of a request.
TEST(ReusableEntries, HaveAtLeast4096Bytes) {
  const Built built = built_with({zip_entry("a", pattern(4095)), zip_entry("b", pattern(4096))});
  const Archive archive = opened(built.bytes);
  const Archive* const archives[] = {&archive};
  const auto found = reusable_entries(zip::Directory::read(built.bytes, {}), archives);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().entry.name, "b");
}

TEST_F(ReuseTest, LeavesWhatWasReceived) {
  part_.receive(0, new_.bytes);
  EXPECT_EQ(copied(), std::vector<bool>(4));
  EXPECT_FALSE(part_.has_copies());
}

TEST_F(ReuseTest, RefusesArchiveThatWasShortened) {
  std::filesystem::resize_file(folder_ / "old.onnxar", 2U << 20U);
  EXPECT_EQ(code_of([&] { return copied(); }), Code::io_changed);
}

TEST_F(ReuseTest, RefusesArchiveThatWasOverwritten) {
  overwrite(built_old_.entry("kept").data_offset, std::vector<std::byte>(100));
  EXPECT_EQ(code_of([&] { return copied(); }), Code::io_changed);
}

}  // namespace
}  // namespace onnxar::testing
