// Steps: one at a time, and none after a failed one.
#include "base/steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "support/refusal.h"

namespace onnxar::base {
namespace {

using onnxar::testing::code_of;
using onnxar::testing::error_if_any;
using ::testing::HasSubstr;

void nothing() {}

TEST(Steps, GiveWhatTheActionGives) {
  Steps steps;
  EXPECT_EQ(steps.take("count", [] { return 7; }), 7);
  int number = 1;
  steps.take("refer", [&]() -> int& { return number; }) = 2;
  EXPECT_EQ(number, 2);
}

TEST(Steps, ActionAfterOneThatFailedIsNotCalled) {
  Steps steps;
  EXPECT_THROW(steps.take("add", [] { throw std::domain_error("no paper"); }), std::domain_error);
  bool called = false;
  const auto error = error_if_any([&] { steps.take("finish", [&] { called = true; }); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::usage_writer_failed);
  EXPECT_THAT(error->message(), HasSubstr("`finish` was called after the writer had failed (`add`: no paper)"));
  EXPECT_FALSE(called);
}

TEST(Steps, WhatIsThrownMayBeAnything) {
  Steps steps;
  EXPECT_THROW(steps.take("add", [] { throw 7; }), int);
  EXPECT_EQ(code_of([&] { steps.take("add", nothing); }), Code::usage_writer_failed);
}

TEST(Steps, StepWithinAStepFailsBoth) {
  Steps steps;
  std::optional<Code> inner;
  EXPECT_EQ(code_of([&] { steps.take("outer", [&] { inner = code_of([&] { steps.take("inner", nothing); }); }); }),
            Code::usage_writer_busy);
  EXPECT_EQ(inner, Code::usage_writer_busy);
  EXPECT_THAT(error_if_any([&] { steps.take("next", nothing); })->message(),
              HasSubstr("`inner` was called while `outer` was at work"));
}

TEST(Steps, LastStepLearnsBeforeItPublishesThatAnotherCame) {
  Steps steps;
  bool published = false;
  const auto last = [&] {
    static_cast<void>(code_of([&] { steps.take("inner", nothing); }));
    steps.close();
    published = true;
  };
  EXPECT_EQ(code_of([&] { steps.take("last", last); }), Code::usage_writer_busy);
  EXPECT_FALSE(published);
}

TEST(Steps, NoneFollowsTheLastAndThatIsNotAFailure) {
  Steps steps;
  steps.take("last", [&] { steps.close(); });
  for (int i = 0; i < 2; ++i) EXPECT_EQ(code_of([&] { steps.take("add", nothing); }), Code::usage_writer_finished);
}

TEST(Steps, PublishingThatFailsIsAFailure) {
  Steps steps;
  EXPECT_THROW(steps.take("last",
                          [&] {
                            steps.close();
                            throw std::domain_error("no room");
                          }),
               std::domain_error);
  EXPECT_EQ(code_of([&] { steps.take("last", nothing); }), Code::usage_writer_failed);
}

}  // namespace
}  // namespace onnxar::base
