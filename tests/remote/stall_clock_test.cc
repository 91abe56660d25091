// When a transfer counts as too slow.
#include "remote/stall_clock.h"

#include <gtest/gtest.h>

namespace onnxar::testing {
namespace {

using std::chrono::milliseconds;

/// Passes `bytes` each 100 ms, for so many seconds.
void pass(StallClock& clock, std::uint64_t bytes, int seconds) {
  for (int i = 0; i < seconds * 10; ++i) clock.pass(milliseconds(100), bytes);
}

TEST(StallClock, CountsSilenceFromItsBegin) {
  StallClock clock;
  pass(clock, 0, 7);
  EXPECT_EQ(clock.waited(), std::chrono::seconds(7));
}

TEST(StallClock, CountsTimeBelowTheSpeed) {
  StallClock clock;
  pass(clock, 101, 30);  // of 102.4
  EXPECT_EQ(clock.waited(), std::chrono::seconds(30));
}

TEST(StallClock, DoesNotCountWhatReachesTheSpeed) {
  StallClock clock;
  pass(clock, 103, 3600);
  EXPECT_LE(clock.waited(), milliseconds(100));
}

TEST(StallClock, TakesBurstsThatReachTheSpeedOnTheWhole) {
  StallClock clock;
  for (int i = 0; i < 100; ++i) {
    pass(clock, 0, 20);
    clock.pass(milliseconds(0), std::uint64_t{20} * 1024);
    EXPECT_EQ(clock.waited(), milliseconds(0));
  }
}

TEST(StallClock, DoesNotSetABurstAgainstTheSilenceAfterIt) {
  StallClock clock;
  clock.pass(milliseconds(1), 1U << 30U);
  pass(clock, 0, 30);
  EXPECT_EQ(clock.waited(), std::chrono::seconds(30));
}

TEST(StallClock, CountsASecondAtMostWhereTheCallerWasBusy) {
  StallClock clock;
  clock.pass(std::chrono::hours(5), 0);
  EXPECT_EQ(clock.waited(), std::chrono::seconds(1));
}

TEST(StallClock, StartsAgain) {
  StallClock clock;
  pass(clock, 0, 5);
  clock.restart();
  EXPECT_EQ(clock.waited(), milliseconds(0));
}

}  // namespace
}  // namespace onnxar::testing
