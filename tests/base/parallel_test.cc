// Work on several threads: each number once, and failures that do not depend on timing.
#include "base/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

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

/// Returns the threads that took part in a loop in which each of `count` threads takes one number.
std::set<std::thread::id> threads_of(ThreadPool& pool, int count) {
  std::vector<std::thread::id> ids(static_cast<std::size_t>(count));
  std::latch all(count);
  pool.run(ids.size(), [&](std::size_t i) {
    ids[i] = std::this_thread::get_id();
    all.arrive_and_wait();
  });
  return {ids.begin(), ids.end()};
}

TEST(ThreadPool, KeepsItsThreadsFromLoopToLoop) {
  ThreadPool pool(3);
  EXPECT_EQ(threads_of(pool, 2).size(), 2U);
  const std::set<std::thread::id> threads = threads_of(pool, 3);
  EXPECT_EQ(threads.size(), 3U);
  EXPECT_TRUE(threads.contains(std::this_thread::get_id()));
  ThreadPool moved(std::move(pool));
  for (int loop = 0; loop < 100; ++loop) EXPECT_EQ(threads_of(moved, 3), threads);
}

TEST(ThreadPool, WorksOnEachNumberOfEachLoopOnce) {
  ThreadPool pool(4);
  for (std::size_t count = 0; count < 200; ++count) {
    std::vector<std::atomic<int>> calls(count);
    pool.run(count, [&](std::size_t i) { ++calls[i]; });
    EXPECT_TRUE(std::ranges::all_of(calls, [](const auto& times) { return times == 1; })) << count;
  }
}

TEST(ThreadPool, RunsLoopsAfterOneFailed) {
  ThreadPool pool(2);
  const auto fail = [](std::size_t i) { throw std::runtime_error(std::to_string(i)); };
  for (int loop = 0; loop < 50; ++loop) EXPECT_THROW(pool.run(10, fail), std::runtime_error);
  EXPECT_EQ(threads_of(pool, 2).size(), 2U);
}

#ifndef _WIN32
TEST(ThreadPool, ForkedProcessRunsLoopsOnItsOwnThread) {
  auto pool = std::make_unique<ThreadPool>(2);
  const std::set<std::thread::id> threads = threads_of(*pool, 2);
  const ::pid_t child = ::fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    std::size_t sum = 0;
    pool->run(5, [&](std::size_t i) { sum += i; });
    pool.reset();  // must not wait for threads that only the parent has
    ::_exit(sum == 10 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(threads_of(*pool, 2), threads);
}
#endif

}  // namespace
}  // namespace onnxar::base
