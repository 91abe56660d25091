// Opening an input once: its kind and its bytes are those of one file, whatever takes its name meanwhile.
#include "archive/opened_input.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "onnx/error_of.h"
#include "onnxar/archive.h"
#include "support/ranged_blob.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

class OpenedInputTest : public ::testing::Test {
 protected:
  fs::path write(std::string_view name, const Blob& bytes) const { return folder_.write_file(name, bytes); }

  TempDir folder_;
  Blob archive_ = smallest_builder(pattern(4096)).build();
};

TEST_F(OpenedInputTest, KindIsDecidedByContent) {
  EXPECT_TRUE(OpenedInput(write("a.onnx", archive_)).is_zip());
  EXPECT_FALSE(OpenedInput(write("a.onnxar", smallest_model())).is_zip());
  EXPECT_FALSE(OpenedInput(write("empty", Blob())).is_zip());
}

TEST_F(OpenedInputTest, ArchiveHasMappingThatWasExamined) {
  const OpenedInput input(write("a", archive_));
  const Archive archive = input.archive();
  EXPECT_EQ(archive.file().data(), input.file()->bytes().data());
}

TEST_F(OpenedInputTest, IgnoresFileThatTakesItsName) {
  const fs::path path = write("a", archive_);
  const OpenedInput input(path);
  fs::rename(write("b", smallest_model()), path);
  ASSERT_TRUE(input.is_zip());
  const Archive archive = input.archive();
  EXPECT_EQ(archive.size(), 2U);
  EXPECT_EQ(archive.path(), path);
  EXPECT_FALSE(OpenedInput(path).is_zip());
}

TEST_F(OpenedInputTest, OpensStateThatIsLeftAfterACut) {
  Blob edited = archive_;
  edited.resize(edited.size() + 70'000);
  const fs::path path = write("a", edited);
  const OpenedInput input(path);
  fs::resize_file(path, archive_.size());  // the mapping now reaches beyond the file
  const Archive archive = input.archive();
  EXPECT_EQ(archive.file().size(), archive_.size());
}

TEST_F(OpenedInputTest, OpensStateOfEditThatEndedMeanwhile) {
  const fs::path path = write("a", Blob(archive_.begin(), archive_.end() - 1));
  const OpenedInput input(path);
  write("a", archive_);
  const Archive archive = input.archive();
  EXPECT_EQ(archive.file().size(), archive_.size());
}

TEST_F(OpenedInputTest, AdvisesOnKindOnlyIfAsked) {
  ZipBuilder builder;
  builder.entries.push_back(plain_entry(deflated_entry("model.onnx", smallest_model())));
  const OpenedInput input(write("a", builder.build()));
  EXPECT_EQ(error_of([&] { static_cast<void>(input.archive()); }).advice().hint, Hint::repack_plain_zip);
  const Error error = error_of([&] { static_cast<void>(input.archive(AdviceOn::cuts)); });
  EXPECT_EQ(error.advice().hint, Hint::none);
  EXPECT_EQ(error.path(), input.path());
}

TEST_F(OpenedInputTest, AdvisesOnCutEditInAnyCase) {
  Blob cut = archive_;
  insert(cut, cut.size(), Bytes(archive_).first(100));
  const OpenedInput input(write("a", cut));
  for (const AdviceOn advice : {AdviceOn::all_faults, AdviceOn::cuts}) {
    expect_error(error_if_any([&] { return input.archive(advice).size(); }),
                 {.code = Code::archive_torn, .offset = archive_.size(), .hint = Hint::recover_cuts});
  }
}

TEST_F(OpenedInputTest, AddressIsOpenedInRanges) {
  int calls = 0;
  const auto open = [&](const fs::path& path) -> std::shared_ptr<const RandomAccess> {
    ++calls;
    return path == "x://a" ? by_ranges(archive_) : nullptr;
  };
  const OpenedInput input("x://a", open);
  EXPECT_TRUE(input.is_zip());
  EXPECT_EQ(input.file(), nullptr);
  EXPECT_EQ(input.archive().size(), 2U);
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(OpenedInput(write("m", smallest_model()), open).is_zip());
}

TEST_F(OpenedInputTest, MissingFileIsAnErrorWithItsPath) {
  expect_error(error_of([this] { OpenedInput(folder_ / "nothing"); }),
               {.code = Code::io_not_found, .path = folder_ / "nothing"});
}

}  // namespace
}  // namespace onnxar::testing
