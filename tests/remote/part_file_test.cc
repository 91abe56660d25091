// Downloads to one output do not mix.
#include "remote/part_file.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/byte_range.h"
#include "base/open_file.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using base::Existing;

class PartFileTest : public ::testing::Test {
 protected:
  [[nodiscard]] PartFile opened(const std::string& version = "1") const {
    return {base::find_target(folder_ / "out", Existing::replace), version, size_, base::Sync::none};
  }
  /// A download that has its only piece.
  [[nodiscard]] PartFile complete() const {
    PartFile part = opened();
    part.set_size(size_);
    part.receive(0, pattern(size_));
    part.list();
    return part;
  }
  /// Puts another process's download in the place of this one.
  void replace_part() const { replace_file(folder_.write_file("other", "other"), folder_ / ".out.part"); }

  std::uint64_t size_ = 100;
  TempDir folder_;
};

TEST_F(PartFileTest, GoesOnWithThePiecesOfTheSameVersion) {
  std::optional<PartFile> part = complete();
  part.reset();
  EXPECT_EQ(opened().ranges().bytes(), size_);
  EXPECT_EQ(opened("2").ranges().bytes(), 0U);
}

TEST_F(PartFileTest, WritesOnlyWhatItDoesNotHave) {
  PartFile part = opened();
  part.receive(10, pattern(10));
  const std::vector<std::byte> others(40);
  EXPECT_EQ(part.receive(0, others), (std::vector<base::ByteRange>{{0, 10}, {20, 20}}));
  EXPECT_EQ(folder_.read_file(".out.part").at(15), pattern(10).at(5));
}

TEST_F(PartFileTest, ForgetsCopiesAlsoOfWhatItReceived) {
  {
    PartFile part = opened();
    part.receive(0, pattern(50));
    part.list();
    part.note_copy({40, 30});
    EXPECT_TRUE(part.has_copies());
    part.forget_copies();
    EXPECT_FALSE(part.has_copies());
    EXPECT_EQ(part.ranges().ranges(), (std::vector<base::ByteRange>{{0, 40}}));
    part.set_size(size_);
  }
  EXPECT_EQ(opened().ranges().ranges(), (std::vector<base::ByteRange>{{0, 40}}));
}

TEST_F(PartFileTest, DoesNotListCopies) {
  {
    PartFile part = opened();
    part.set_size(size_);
    part.note_copy({0, 30});
    part.list();
  }
  EXPECT_EQ(opened().ranges().bytes(), 0U);
}

TEST_F(PartFileTest, OfAnotherProcessIsNotPublished) {
  PartFile part = complete();
  replace_part();
  EXPECT_EQ(code_of([&] { part.publish(Existing::replace); }), Code::io_changed);
  EXPECT_FALSE(fs::exists(folder_ / "out"));
  EXPECT_EQ(folder_.read_text(".out.part"), "other");
}

TEST_F(PartFileTest, OfAnotherProcessIsNotRemoved) {
  PartFile part = complete();
  replace_part();
  part.discard();
  EXPECT_EQ(folder_.read_text(".out.part"), "other");
  EXPECT_TRUE(fs::exists(folder_ / ".out.part.list"));
}

TEST_F(PartFileTest, LeavesNothingWhenItIsDiscarded) {
  complete().discard();
  EXPECT_TRUE(folder_.file_names().empty());
}

TEST_F(PartFileTest, HasNothingIfOnlyTheListIsLeft) {
  {
    const PartFile part = complete();
    fs::rename(folder_ / ".out.part", folder_ / "out");  // and was killed before it removed the list
  }
  EXPECT_EQ(opened().ranges().bytes(), 0U);
}

TEST_F(PartFileTest, DoesNotReplaceAnArchiveThatIsBeingEdited) {
  PartFile part = complete();
  const fs::path target = folder_.write_file("out", "old");
  const os::File editor = base::open_file(target, os::Access::read_and_write);
  ASSERT_EQ(os::try_lock(editor, os::Lock::exclusive), os::Locking::done);
  EXPECT_EQ(code_of([&] { part.publish(Existing::replace); }), Code::archive_busy);
  EXPECT_EQ(folder_.read_text("out"), "old");
}

}  // namespace
}  // namespace onnxar::testing
