// Saving reports its progress, and stops when the callback throws.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t step = 16U << 20U;
constexpr std::size_t large = step / 4 + 1000;  // floats: a little more than one step

class ProgressTest : public ::testing::TestWithParam<Format> {
 protected:
  ProgressTest() {
    save_.progress = [this](std::uint64_t done, std::uint64_t total) {
      told_.emplace_back(done, total);
      EXPECT_EQ(std::this_thread::get_id(), caller_);
    };
  }
  ConvertReport convert_all() {
    if (!std::filesystem::exists(folder_ / "in")) {
      folder_.write_file("in", model_of({floats("a", large, 1), floats("b", 300, 2)}).view());
    }
    return pack_or_unpack(folder_ / "in", folder_ / "out", save_);
  }

  TempDir folder_;
  SaveOptions save_ = saved_as(GetParam());
  std::vector<std::pair<std::uint64_t, std::uint64_t>> told_;
  std::thread::id caller_ = std::this_thread::get_id();
};
INSTANTIATE_TEST_SUITE_P(Every, ProgressTest,
                         ::testing::Values(Format::archive, Format::onnx_external, Format::onnx_inline));

TEST_P(ProgressTest, ReportsEveryStepAndTheEnd) {
  const ConvertReport report = convert_all();
  const std::uint64_t total = report.payload_bytes + report.model_bytes;
  EXPECT_THAT(told_, ElementsAre(std::pair(step, total), std::pair(total, total)));
}

TEST_P(ProgressTest, ExceptionCancelsAndLeavesNothing) {
  for (const std::size_t calls : {1U, 2U}) {  // in the middle, and after the last byte
    told_.clear();
    save_.progress = [this, calls](std::uint64_t done, std::uint64_t total) {
      told_.emplace_back(done, total);
      if (told_.size() == calls) throw std::runtime_error("cancelled");
    };
    EXPECT_THROW(convert_all(), std::runtime_error);
    EXPECT_EQ(told_.size(), calls);
    EXPECT_THAT(folder_.file_names(), ElementsAre("in"));
  }
}

TEST_P(ProgressTest, DryRunWritesNothingAndReportsNothing) {
  save_.output.dry_run = true;
  convert_all();
  EXPECT_TRUE(told_.empty());
}

TEST_P(ProgressTest, ThePiecesMakeTheSameFile) {
  convert_all();
  const Blob told = folder_.read_file("out");
  save_.progress = nullptr;
  save_.output.overwrite = true;
  convert_all();
  EXPECT_EQ(folder_.read_file("out"), told);
}

TEST(Progress, SideFilesAreCounted) {
  const TempDir folder;
  SaveOptions options = saved_as(Format::archive);
  std::vector<std::uint64_t> done;
  options.progress = [&](std::uint64_t now, std::uint64_t) { done.push_back(now); };
  const Built archive = archive_of(model_of({floats("w", 3)}), {zip_entry("notes.txt", pattern(1000))});
  const ConvertReport report = pack_or_unpack(folder.write_file("in", archive.bytes), folder / "out", options);
  EXPECT_THAT(done, ElementsAre(report.model_bytes + 1000));
}

}  // namespace
}  // namespace onnxar::testing
