#include <gtest/gtest.h>

#include <new>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "base/errors.h"
#include "onnxar/error.h"

namespace onnxar::testing {
namespace {

static_assert(std::is_nothrow_copy_constructible_v<Failure> && std::is_nothrow_move_constructible_v<Failure>);

Failure failure_of(const auto& call) {
  Failure failure;
  EXPECT_EQ(base::attempt<std::optional<int>>(failure, call), std::nullopt);
  EXPECT_TRUE(failure);
  return failure;
}

TEST(Failure, OfAnErrorTellsAllThatTheErrorTells) {
  const Failure failure = failure_of([]() -> int { throw Error(Code::zip_data_crc, "wrong", {"w", 64}, "a.onnxar"); });
  EXPECT_EQ(failure.cause(), Failure::Cause::error);
  EXPECT_EQ(failure.code(), Code::zip_data_crc);
  EXPECT_EQ(failure.entry(), "w");
  EXPECT_EQ(failure.offset(), 64U);
  EXPECT_EQ(failure.message(), "wrong");
  ASSERT_NE(failure.error(), nullptr);
  EXPECT_EQ(failure.error()->path(), "a.onnxar");
}

TEST(Failure, OfMemoryHasNoCodeAndSaysSo) {
  const Failure failure = failure_of([]() -> int { throw std::bad_alloc(); });
  EXPECT_EQ(failure.cause(), Failure::Cause::no_memory);
  EXPECT_EQ(failure.code(), std::nullopt);
  EXPECT_EQ(failure.error(), nullptr);
  EXPECT_EQ(failure.message(), "there is not enough memory");
  EXPECT_EQ(failure.entry(), "");
  EXPECT_EQ(failure.offset(), std::nullopt);
}

TEST(Failure, OfAnotherExceptionHasItsText) {
  const Failure failure = failure_of([]() -> int { throw std::out_of_range("beyond"); });
  EXPECT_EQ(failure.cause(), Failure::Cause::other);
  EXPECT_EQ(failure.code(), std::nullopt);
  EXPECT_EQ(failure.error(), nullptr);
  EXPECT_EQ(failure.message(), "beyond");
  EXPECT_EQ(failure_of([]() -> int { throw 1; }).cause(), Failure::Cause::other);
}

TEST(Failure, OfNothingIsFalse) {
  Failure failure = failure_of([]() -> int { throw std::bad_alloc(); });
  EXPECT_EQ(base::attempt<std::optional<int>>(failure, [] { return 3; }), 3);
  EXPECT_FALSE(failure);
  EXPECT_EQ(failure.message(), "");
  EXPECT_FALSE(Failure());
}

TEST(Failure, OutlivesTheExceptionAndIsSharedByCopies) {
  const Failure copy = failure_of([]() -> int { throw Error(Code::io_failed, "text"); });
  const Failure other = copy;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(copy.error(), other.error());
}

}  // namespace
}  // namespace onnxar::testing
