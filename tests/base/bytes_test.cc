// ByteSpan: ownership and lifetime of the bytes.
#include "onnxar/bytes.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

/// Storage with an owner whose destruction can be observed.
struct Shared {
  std::shared_ptr<const Blob> storage = std::make_shared<const Blob>(pattern(16));
  std::weak_ptr<const Blob> watch = storage;

  ByteSpan lend() {
    const Bytes view = *storage;
    return ByteSpan::borrow(view, std::exchange(storage, nullptr));
  }
};

TEST(Bytes, TextAndBytesAreTwoViewsOfOneStorage) {
  const std::string_view text = "ab\xff";
  const Bytes bytes = as_bytes(text);
  ASSERT_EQ(bytes.size(), 3U);
  EXPECT_EQ(bytes[2], std::byte{0xff});
  EXPECT_EQ(as_text(bytes).data(), text.data());
  EXPECT_EQ(as_text(bytes), text);
  EXPECT_TRUE(as_text({}).empty());
}

TEST(ByteSpan, DefaultIsBorrowedAndEmptyOwnedSpanIsOwned) {
  const ByteSpan span;
  EXPECT_TRUE(span.empty());
  EXPECT_EQ(span.size(), 0U);
  EXPECT_FALSE(span.owned());
  EXPECT_EQ(span.owner(), nullptr);
  EXPECT_TRUE(span.bytes().empty());
  const ByteSpan owned = ByteSpan::own({});
  EXPECT_TRUE(owned.owned());
  EXPECT_TRUE(owned.empty());
}

TEST(ByteSpan, OwnedSpanTakesTheBufferWithoutACopy) {
  Blob buffer = pattern(100);
  const std::byte* const place = buffer.data();
  const ByteSpan span = ByteSpan::own(std::move(buffer));
  EXPECT_TRUE(span.owned());
  EXPECT_EQ(span.owner(), nullptr);
  EXPECT_EQ(span.size(), 100U);
  EXPECT_EQ(span.bytes().data(), place);
}

TEST(ByteSpan, CopyOfAnOwnedSpanOwnsACopyOfTheBytes) {
  auto original = std::make_unique<ByteSpan>(ByteSpan::own(pattern(100)));
  const ByteSpan copy = *original;
  EXPECT_NE(copy.bytes().data(), original->bytes().data());
  original.reset();
  EXPECT_TRUE(copy.owned());
  EXPECT_EQ(copy_of(copy.bytes()), pattern(100));
}

TEST(ByteSpan, MoveOfAnOwnedSpanKeepsTheStorage) {
  ByteSpan original = ByteSpan::own(pattern(100));
  const std::byte* const place = original.bytes().data();
  const ByteSpan moved = std::move(original);
  EXPECT_TRUE(moved.owned());
  EXPECT_EQ(moved.bytes().data(), place);
}

TEST(ByteSpan, BorrowedSpanIsAViewOfTheCallersStorage) {
  const Blob storage = pattern(10);
  const ByteSpan span = ByteSpan::borrow(storage);
  ByteSpan copy;
  copy = span;
  EXPECT_FALSE(span.owned());
  EXPECT_EQ(span.owner(), nullptr);
  EXPECT_EQ(span.bytes().data(), storage.data());
  EXPECT_EQ(copy.bytes().data(), storage.data());
  EXPECT_EQ(copy.size(), 10U);
}

TEST(ByteSpan, LastShareKeepsBorrowedStorageAlive) {
  Shared shared;
  auto span = std::make_unique<ByteSpan>(shared.lend());
  EXPECT_FALSE(span->owned());
  EXPECT_NE(span->owner(), nullptr);
  auto copy = std::make_unique<ByteSpan>(*span);
  EXPECT_EQ(copy->bytes().data(), span->bytes().data());
  span.reset();
  ASSERT_FALSE(shared.watch.expired());
  EXPECT_EQ(copy_of(copy->bytes()), pattern(16));
  copy.reset();
  EXPECT_TRUE(shared.watch.expired());
}

TEST(ByteSpan, MovePassesTheShareOn) {
  Shared shared;
  ByteSpan original = shared.lend();
  {
    const ByteSpan moved = std::move(original);
    EXPECT_EQ(shared.watch.use_count(), 1);
  }
  EXPECT_TRUE(shared.watch.expired());
}

TEST(ByteSpan, AssignmentReleasesTheOldShare) {
  Shared first;
  Shared second;
  ByteSpan span = first.lend();
  span = second.lend();
  EXPECT_TRUE(first.watch.expired());
  const ByteSpan owned = ByteSpan::own(pattern(3));
  span = owned;
  EXPECT_TRUE(second.watch.expired());
  EXPECT_TRUE(span.owned());
  EXPECT_EQ(copy_of(span.bytes()), pattern(3));
}

// NOLINTBEGIN(bugprone-use-after-move,clang-analyzer-cplusplus.Move): the header promises the state after a move.
TEST(ByteSpan, MovedFromSpanIsEmptyInEveryMode) {
  const Blob storage = pattern(10);
  Shared shared;
  std::vector<ByteSpan> modes;
  modes.push_back(ByteSpan::own(pattern(5)));
  modes.push_back(ByteSpan::borrow(storage));
  modes.push_back(shared.lend());
  for (ByteSpan& span : modes) {
    ByteSpan target = ByteSpan::own(pattern(7));
    target = std::move(span);
    EXPECT_FALSE(target.empty());
    EXPECT_TRUE(span.empty());
    EXPECT_TRUE(span.bytes().empty());
    EXPECT_EQ(span.owner(), nullptr);
    EXPECT_FALSE(span.owned());
    const ByteSpan next = std::move(target);
    EXPECT_FALSE(next.empty());
    EXPECT_TRUE(target.empty());
  }
}
// NOLINTEND(bugprone-use-after-move,clang-analyzer-cplusplus.Move)

TEST(ByteSpan, AssignmentToItselfKeepsTheBytes) {
  ByteSpan span = ByteSpan::own(pattern(9));
  ByteSpan& alias = span;
  span = alias;
  EXPECT_EQ(copy_of(span.bytes()), pattern(9));
  span = std::move(alias);
  EXPECT_EQ(copy_of(span.bytes()), pattern(9));
  EXPECT_TRUE(span.owned());
}

}  // namespace
}  // namespace onnxar::testing
