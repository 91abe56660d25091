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
using onnxar::testing::expect_error;
using ::testing::HasSubstr;

void nothing() {}

TEST(Steps, ReturnWhatTheActionReturns) {
  Steps steps;
  EXPECT_EQ(steps.take([] { return 7; }), 7);
  int number = 1;
  steps.take([&]() -> int& { return number; }) = 2;
  EXPECT_EQ(number, 2);
}

TEST(Steps, ActionAfterOneThatFailedIsNotCalled) {
  Steps steps;
  EXPECT_THROW(steps.take([] { throw std::domain_error("no paper"); }), std::domain_error);
  bool called = false;
  expect_error(error_if_any([&] { steps.take([&] { called = true; }); }),
               {.code = Code::usage_writer_failed, .says = {"the writer was called after it had failed (no paper)"}});
  EXPECT_FALSE(called);
}

TEST(Steps, ActionMayThrowAnything) {
  Steps steps;
  EXPECT_THROW(steps.take([] { throw 7; }), int);
  EXPECT_EQ(code_of([&] { steps.take(nothing); }), Code::usage_writer_failed);
}

TEST(Steps, StepWithinAStepFailsBoth) {
  Steps steps;
  std::optional<Code> inner;
  EXPECT_EQ(code_of([&] { steps.take([&] { inner = code_of([&] { steps.take(nothing); }); }); }),
            Code::usage_writer_busy);
  EXPECT_EQ(inner, Code::usage_writer_busy);
  EXPECT_THAT(error_if_any([&] { steps.take(nothing); })->message(),
              HasSubstr("the writer was called while another call of it was running"));
}

TEST(Steps, LastStepFailsIfAnotherCameBeforeItPublished) {
  Steps steps;
  bool published = false;
  const auto last = [&] {
    static_cast<void>(code_of([&] { steps.take(nothing); }));
    steps.close();
    published = true;
  };
  EXPECT_EQ(code_of([&] { steps.take(last); }), Code::usage_writer_busy);
  EXPECT_FALSE(published);
}

TEST(Steps, RefuseStepsAfterTheLastWithoutFailing) {
  Steps steps;
  steps.take([&] { steps.close(); });
  for (int i = 0; i < 2; ++i) EXPECT_EQ(code_of([&] { steps.take(nothing); }), Code::usage_writer_finished);
}

TEST(Steps, PublishingThatFailsIsAFailure) {
  Steps steps;
  EXPECT_THROW(steps.take([&] {
    steps.close();
    throw std::domain_error("no room");
  }),
               std::domain_error);
  EXPECT_EQ(code_of([&] { steps.take(nothing); }), Code::usage_writer_failed);
}

}  // namespace
}  // namespace onnxar::base
