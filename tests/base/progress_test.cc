// Progress of work on several threads, as one callback sees it.
#include "base/progress.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace onnxar::base {
namespace {

TEST(SharedProgressTest, ReportsBytesOfOtherThreadsOnItsOwnThread) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> told;
  const auto owner = std::this_thread::get_id();
  const ProgressCallback tell = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_EQ(std::this_thread::get_id(), owner);
    told.emplace_back(done, total);
  };
  SharedProgress progress(tell, 100);
  std::thread([&progress] { progress.add(60); }).join();
  EXPECT_TRUE(told.empty());
  progress.finish();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told.front(), std::pair(std::uint64_t{100}, std::uint64_t{100}));
}

TEST(SharedProgressTest, OwnersCallReportsBytesOfOtherThreads) {
  std::vector<std::uint64_t> told;
  const ProgressCallback tell = [&](std::uint64_t done, std::uint64_t) { told.push_back(done); };
  SharedProgress progress(tell, 100);
  std::thread([&progress] { progress.add(60); }).join();
  progress.add(40);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back(), 100U);
}

/// A caller's callback may write from a thread of its own.
TEST(ProgressTest, ReportsBytesOnTheThreadThatPassesThem) {
  const std::vector<std::byte> bytes(40U << 20U);
  std::vector<std::uint64_t> told;
  const ProgressCallback tell = [&](std::uint64_t done, std::uint64_t) { told.push_back(done); };
  Progress progress(tell, bytes.size());
  std::size_t passed = 0;
  std::thread([&] { progress.pass(bytes, [&](Bytes piece) { passed += piece.size(); }); }).join();
  EXPECT_EQ(passed, bytes.size());
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back(), bytes.size());
}

}  // namespace
}  // namespace onnxar::base
