// Verbs that read or write much data report how far they are, and stop when the callback throws.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "support/samples.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

namespace fs = std::filesystem;

/// A verb with its input and output prepared, which takes a callback.
struct Case {
  std::string verb;
  std::function<void(const TempDir& folder, const ProgressCallback& progress)> run;
};
void PrintTo(const Case& each, std::ostream* out) {  // NOLINT(readability-identifier-naming): GoogleTest calls it
  *out << each.verb;
}

fs::path packed(const TempDir& folder) {
  const fs::path archive = folder.path() / "in.onnxar";
  const Blob data(40'000'000, std::byte{7});
  ArchiveWriter writer = ArchiveWriter::create(archive, {.output = {.overwrite = true}, .verify_model = false});
  writer.add("w", data);
  writer.add("v", data);
  writer.finish(model_of({linked_floats("w", data.size() / 4, "w"), linked_floats("v", data.size() / 4, "v")}).view());
  return archive;
}

void repacks(const TempDir& folder, const ProgressCallback& progress) {
  repack(packed(folder), folder.path() / "out", {.progress = progress});
}

void checks(const TempDir& folder, const ProgressCallback& progress) {
  static_cast<void>(check(packed(folder), {.data = true, .progress = progress}));
}

void extracts(const TempDir& folder, const ProgressCallback& progress) {
  extract(packed(folder), "w", folder.path() / "out", {.raw = true, .progress = progress});
}

void replaces(const TempDir& folder, const ProgressCallback& progress) {
  ReplaceOptions options = {.progress = progress};
  const fs::path file = folder.write_file("side", Blob(40'000'000, std::byte{1}));
  options.add = {{"notes/side.bin", file}};
  replace(packed(folder), options);
}

class ProgressOfVerbsTest : public ::testing::TestWithParam<Case> {
 protected:
  TempDir folder_;
};

TEST_P(ProgressOfVerbsTest, NumbersGrowToTheTotalOnTheCallersThread) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> calls;
  const auto thread = std::this_thread::get_id();
  GetParam().run(folder_, [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_EQ(std::this_thread::get_id(), thread);
    EXPECT_GE(done, calls.empty() ? 0 : calls.back().first);
    calls.emplace_back(done, total);
  });
  ASSERT_THAT(calls, Not(IsEmpty()));
  EXPECT_EQ(calls.back().first, calls.back().second);
  EXPECT_GE(calls.back().second, 40'000'000U);
}

TEST_P(ProgressOfVerbsTest, AnExceptionCancelsAndLeavesNoOutput) {
  const auto cancel = [](std::uint64_t, std::uint64_t) { throw std::runtime_error("enough"); };
  EXPECT_THROW(GetParam().run(folder_, cancel), std::runtime_error);
  EXPECT_FALSE(fs::exists(folder_.path() / "out"));
  EXPECT_TRUE(is_archive(folder_.path() / "in.onnxar"));
}

INSTANTIATE_TEST_SUITE_P(Verbs, ProgressOfVerbsTest,
                         ::testing::Values(Case{"repack", repacks}, Case{"check", checks}, Case{"extract", extracts},
                                           Case{"replace", replaces}),
                         [](const auto& each) { return each.param.verb; });

}  // namespace
}  // namespace onnxar::testing
