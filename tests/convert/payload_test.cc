// A payload knows its bytes and their owner. An extent identifies data.
#include "convert/payload.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

/// Produces its bytes while it is read.
class MadeSource final : public ByteSource {
 public:
  explicit MadeSource(std::size_t size) : size_(size) {}
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  void read(const ByteSink& sink) const override { sink(pattern(size_)); }

 private:
  std::size_t size_;
};

Payload made(std::size_t size) { return {std::make_shared<MadeSource>(size)}; }

std::vector<Location> locations_of(const ByteSource& source) {
  std::vector<Location> found;
  source.locate([&found](const Location& run) { found.push_back(run); });
  return found;
}

TEST(Payload, OwnedBytesLiveAsLongAsASpanOfThem) {
  ByteSpan span;
  {
    const Payload payload = payload_of(ByteSpan::own(pattern(100)));
    EXPECT_TRUE(payload.span->owned());
    span = payload.share();
  }
  EXPECT_FALSE(span.owned()) << "a view, which shares the owner";
  EXPECT_TRUE(std::ranges::equal(span.bytes(), pattern(100)));
}

TEST(Payload, BorrowedBytesAreReturnedInPlace) {
  const Blob bytes = pattern(100);
  const Payload payload = payload_of(ByteSpan::borrow(bytes));
  EXPECT_EQ(gathered(*payload.source).size(), 100U);
  EXPECT_EQ(payload.bytes().data(), bytes.data());
  EXPECT_EQ(payload.size(), 100U);
  const std::vector<Location> where = locations_of(*payload.source);
  ASSERT_EQ(where.size(), 1U);
  EXPECT_EQ(where.front().bytes.data(), bytes.data());
  EXPECT_FALSE(where.front().verified);
}

TEST(Payload, DataThatIsMadeWhileItIsReadLiesNowhere) {
  const Payload payload = made(100);
  EXPECT_TRUE(payload.is_decoded());
  EXPECT_TRUE(payload.bytes().empty());
  EXPECT_TRUE(payload.share().empty());
  EXPECT_TRUE(locations_of(*payload.source).empty());
}

TEST(Payload, DataWithoutBytesIsNotDecoded) { EXPECT_FALSE(payload_of(ByteSpan()).is_decoded()); }

TEST(Extent, PayloadsOfTheSameBytesHaveOne) {
  const Blob bytes = pattern(100);
  const Extent all(payload_of(ByteSpan::borrow(bytes)));
  EXPECT_EQ(all, Extent(payload_of(ByteSpan::borrow(bytes))));
  EXPECT_EQ(all, Extent(bytes));
  EXPECT_NE(all, Extent(Bytes(bytes).first(99)));
  EXPECT_NE(all, Extent(Bytes(bytes).subspan(1)));
  EXPECT_LT(all, Extent(Bytes(bytes).subspan(1)));
  EXPECT_LT(Extent(Bytes(bytes).first(99)), all) << "the shorter one first";
}

TEST(Extent, EqualBytesInTwoPlacesHaveTwo) {
  EXPECT_NE(Extent(payload_of(ByteSpan::own(pattern(9)))), Extent(payload_of(ByteSpan::own(pattern(9)))));
}

TEST(Extent, DataThatIsMadeGoesByItsSource) {
  const Payload payload = made(100);
  const Payload copy = payload;  // NOLINT(performance-unnecessary-copy-initialization): it is the copy that is tested
  EXPECT_EQ(Extent(payload), Extent(copy));
  EXPECT_NE(Extent(payload), Extent(made(100)));
}

TEST(Extent, DataWithoutBytesIsNeverShared) {
  const Blob bytes = pattern(9);
  const Payload one = payload_of(ByteSpan::borrow(Bytes(bytes).first(0)));
  const Payload other = payload_of(ByteSpan::borrow(Bytes(bytes).first(0)));
  EXPECT_NE(Extent(one), Extent(other));
}

}  // namespace
}  // namespace onnxar::testing
