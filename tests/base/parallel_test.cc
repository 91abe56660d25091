// Work on several threads: each number once, and failures that do not depend on timing.
#include "base/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace onnxar::base {
namespace {

TEST(ParallelFor, EveryNumberIsWorkedOnOnce) {
  for (const std::size_t threads : {0U, 1U, 2U, 7U, 100U}) {
    std::vector<std::atomic<int>> calls(50);
    parallel_for(calls.size(), threads, [&](std::size_t i) { ++calls[i]; });
    EXPECT_TRUE(std::ranges::all_of(calls, [](const auto& count) { return count == 1; })) << threads;
  }
}

TEST(ThreadsFor, LittleWorkGetsNoFurtherThreadUnlessAskedFor) {
  EXPECT_EQ(threads_for(0, 0), 1U);
  EXPECT_EQ(threads_for(worth_a_thread - 1, 0), 1U);
  EXPECT_EQ(threads_for(std::uint64_t{1} << 60U, 0), allowed_threads(0));
  EXPECT_EQ(threads_for(0, 3), 3U);
}

TEST(ParallelFor, NothingToDoIsNothingDone) {
  parallel_for(0, 4, [](std::size_t) { FAIL(); });
}

TEST(ParallelFor, OneThreadIsTheCallers) {
  std::set<std::thread::id> threads;
  parallel_for(20, 1, [&](std::size_t) { threads.insert(std::this_thread::get_id()); });
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
}

TEST(ParallelFor, TheFailureOfTheSmallestNumberComesThrough) {
  for (int round = 0; round < 50; ++round) {
    try {
      parallel_for(40, 4, [](std::size_t i) {
        if (i >= 10) throw std::runtime_error(std::to_string(i));
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "10");
    }
  }
}

TEST(ParallelFor, AfterAFailureNoMoreIsBegun) {
  std::size_t begun = 0;
  const auto fail_at_three = [&](std::size_t i) {
    ++begun;
    if (i == 3) throw std::runtime_error("three");
  };
  EXPECT_THROW(parallel_for(100, 1, fail_at_three), std::runtime_error);
  EXPECT_EQ(begun, 4U);
}

}  // namespace
}  // namespace onnxar::base
