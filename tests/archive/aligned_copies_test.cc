// Copies of data of the model: aligned, made once for each key, within a limit.
#include "archive/aligned_copies.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "support/sources.h"

namespace onnxar::testing {
namespace {

const std::byte* address_of_copy(const ByteSpan& span) { return span.bytes().data(); }

Blob bytes_of_copy(const ByteSpan& span) { return copy_of(span.bytes()); }

TEST(AlignedCopies, EachKeyIsCopiedOnceToAMultipleOf64) {
  AlignedCopies copies;
  const CountedSource source(pattern(100));
  const ByteSpan first = copies.get({5, 100}, source, 1000);
  EXPECT_EQ(bytes_of_copy(first), pattern(100));
  EXPECT_EQ(first.alignment() % 64, 0U);
  EXPECT_EQ(address_of_copy(copies.get({5, 100}, source, 1000)), address_of_copy(first));
  EXPECT_EQ(source.reads, 1);
  EXPECT_NE(address_of_copy(copies.get({5, 99}, source, 1000)), address_of_copy(first));
  EXPECT_EQ(source.reads, 2);
}

TEST(AlignedCopies, CopyBeyondTheLimitBelongsOnlyToItsSpan) {
  AlignedCopies copies;
  const CountedSource source(pattern(100));
  static_cast<void>(copies.get({1, 0}, source, 199));
  static_cast<void>(copies.get({2, 0}, source, 199));
  EXPECT_EQ(bytes_of_copy(copies.get({2, 0}, source, 199)), pattern(100));
  EXPECT_EQ(source.reads, 3);
  static_cast<void>(copies.get({1, 0}, source, 199));
  EXPECT_EQ(source.reads, 3);
  const ByteSpan too_large = copies.get({4, 0}, source, 99);
  EXPECT_NE(address_of_copy(copies.get({4, 0}, source, 99)), address_of_copy(too_large));
}

TEST(AlignedCopies, CopiesThatReachTheLimitAreKept) {
  const CountedSource source(pattern(100));
  for (const std::uint64_t count : {1U, 2U}) {
    AlignedCopies copies;
    source.reads = 0;
    for (std::uint64_t i = 0; i < 2 * count; ++i) static_cast<void>(copies.get({i % count, 0}, source, 100 * count));
    EXPECT_EQ(source.reads, static_cast<int>(count));
  }
}

TEST(AlignedCopies, ACopyThatFailedIsMadeAgain) {
  AlignedCopies copies;
  CountedSource source(pattern(100));
  source.fails = true;
  EXPECT_THROW(static_cast<void>(copies.get({1, 0}, source, 1000)), std::runtime_error);
  source.fails = false;
  EXPECT_EQ(bytes_of_copy(copies.get({1, 0}, source, 1000)), pattern(100));
}

}  // namespace

}  // namespace onnxar::testing
