// A rope hands out its pieces in order, without copying views.
#include "onnx/rope.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/refusal.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

/// Hands out `piece`, `count` times.
class Echo final : public ByteSource {
 public:
  Echo(std::string_view piece, std::size_t count) : piece_(blob(piece)), count_(count) {}
  [[nodiscard]] std::uint64_t size() const override { return piece_.size() * count_; }
  void read(const ByteSink& sink) const override {
    for (std::size_t i = 0; i < count_; ++i) sink(piece_);
  }

 private:
  Blob piece_;
  std::size_t count_;
};

/// Has no bytes, and fails where it is read all the same.
class Nothing final : public ByteSource {
 public:
  [[nodiscard]] std::uint64_t size() const override { return 0; }
  void read(const ByteSink&) const override { FAIL() << "there is nothing to read"; }
};

/// Announces more bytes than a file can have, and a different number at every call.
class Boaster final : public ByteSource {
 public:
  [[nodiscard]] std::uint64_t size() const override { return (1ULL << 63U) + asked++; }
  void read(const ByteSink&) const override {}

  mutable std::uint64_t asked = 0;
};

std::vector<Bytes> pieces_of(const onnx::Rope& rope) {
  std::vector<Bytes> pieces;
  rope.read([&pieces](Bytes piece) { pieces.push_back(piece); });
  return pieces;
}

TEST(Rope, AnEmptyRopeHandsOutNothing) {
  const onnx::Rope rope;
  EXPECT_EQ(rope.size(), 0U);
  EXPECT_TRUE(rope.flat().empty());
  EXPECT_TRUE(pieces_of(rope).empty());
}

TEST(Rope, ASourceWithoutBytesIsNotRead) {
  onnx::Rope rope;
  rope.append(std::make_shared<Nothing>());
  rope.append(std::string("text"));
  EXPECT_EQ(text_of(rope.flat()), "text");
}

TEST(Rope, PiecesComeInTheOrderTheyWereAppended) {
  const Blob first = blob("one ");
  onnx::Rope rope;
  rope.append(Bytes(first));
  rope.append(std::string("two "));
  rope.append(std::make_shared<Echo>("x ", 2));
  rope.append(Bytes(first));
  EXPECT_EQ(text_of(rope.flat()), "one two x x one ");
  EXPECT_EQ(rope.size(), rope.flat().size());
}

TEST(Rope, EmptyPiecesLeaveNoTrace) {
  onnx::Rope rope;
  rope.append(Bytes());
  rope.append(std::string());
  rope.append(std::make_shared<Echo>("x", 0));
  EXPECT_EQ(rope.size(), 0U);
  EXPECT_TRUE(pieces_of(rope).empty());
}

TEST(Rope, ViewIsReturnedInPlace) {
  const Blob far = pattern(100000);
  onnx::Rope rope;
  rope.append(Bytes(far));
  const std::vector<Bytes> pieces = pieces_of(rope);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces.front().data(), far.data());
  EXPECT_EQ(pieces.front().size(), far.size());
}

TEST(Rope, ARopeMayBeReadTwiceAndMoved) {
  onnx::Rope rope;
  rope.append(std::string("short"));  // in the string itself, so that its bytes move with it
  rope.append(std::make_shared<Echo>("-", 3));
  EXPECT_EQ(text_of(rope.flat()), "short---");
  const onnx::Rope moved = std::move(rope);
  EXPECT_EQ(text_of(moved.flat()), "short---");
}

TEST(Rope, ARopeIsASourceForAnother) {
  auto inner = std::make_shared<onnx::Rope>();
  inner->append(std::string("in"));
  inner->append(std::string("side"));
  onnx::Rope outer;
  outer.append(std::string("<"));
  outer.append(std::shared_ptr<const ByteSource>(inner));
  outer.append(std::string(">"));
  EXPECT_EQ(outer.size(), 8U);
  EXPECT_EQ(text_of(outer.flat()), "<inside>");
}

TEST(Rope, AsksASourceOnceAndRefusesTooLargeSums) {
  const auto source = std::make_shared<Boaster>();
  onnx::Rope rope;
  rope.append(std::string("model"));
  EXPECT_EQ(code_of([&] { rope.append(source); }), Code::usage_argument);
  EXPECT_EQ(source->asked, 1U);
  EXPECT_EQ(rope.size(), 5U);
}

// The places of sources may be shared, so that their bytes need not be copied.
TEST(Rope, LocatesOnlySourcesInTheirOrder) {
  const Blob view = pattern(10, 1);
  const Blob first = pattern(20, 2);
  const Blob second = pattern(30, 3);
  onnx::Rope rope;
  rope.append(Bytes(view));
  rope.append(std::make_shared<SpanSource>(first));
  rope.append(std::string("text"));
  rope.append(std::make_shared<SpanSource>(second));
  rope.append(std::make_shared<SpanSource>(Bytes()));
  std::vector<const std::byte*> places;
  rope.locate([&](const Location& location) { places.push_back(location.bytes.data()); });
  EXPECT_EQ(places, (std::vector<const std::byte*>{first.data(), second.data()}));
}

TEST(Rope, LocatesNoViews) {
  const Blob view = pattern(10);
  onnx::Rope rope;
  rope.append(Bytes(view));
  rope.locate([](const Location&) { FAIL(); });
}

}  // namespace

}  // namespace onnxar::testing
