// An edit changes its range and the lengths of the enclosing messages, and no other byte.
#include "onnx/splice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "onnx/rope.h"
#include "support/refusal.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

constexpr std::uint32_t payload_field = 1, child_field = 2, other_field = 3, unknown_field = 4242;

/// A payload in a message in a message in a message, each with something unknown on both sides. The length of each is
/// at least `width` bytes.
Message nested(std::size_t payload, std::size_t width = 0) {
  Message message = Message().string(unknown_field, "?").bytes(payload_field, pattern(payload)).varint(other_field, 9);
  for (int level = 0; level < 3; ++level) {
    Message parent = Message().fixed32(unknown_field, 7);
    parent.padded_length_message(child_field, message, width).string(other_field, "tail");
    message = parent;
  }
  return message;
}

onnx::Field find(Bytes buffer, onnx::Range range, std::uint32_t number) {
  onnx::Cursor cursor(buffer, range);
  for (onnx::Field field; cursor.next(field);) {
    if (field.number == number) return field;
  }
  throw std::logic_error("no such field");
}

/// The message that holds the payload, and its frame.
struct Innermost {
  onnx::Splice::Frame frame = onnx::Splice::outermost;
  onnx::Range range;
};

Innermost enter_innermost(onnx::Splice& splice, Bytes buffer) {
  Innermost at{onnx::Splice::outermost, {0, buffer.size()}};
  for (int level = 0; level < 3; ++level) {
    const onnx::Field child = find(buffer, at.range, child_field);
    at = {splice.enter(at.frame, child), child.value};
  }
  return at;
}

/// `message` with a different payload.
Blob with_payload(const Blob& message, std::size_t size) {
  onnx::Splice splice(message);
  const Innermost at = enter_innermost(splice, message);
  const onnx::Field payload = find(message, at.range, payload_field);
  splice.replace(at.frame, payload.whole, Message().bytes(payload_field, pattern(size)).str());
  return std::move(splice).result().flat();
}

/// Payload sizes that put the lengths of all levels on both sides of every border of a varint.
std::vector<std::size_t> sizes_at_borders() {
  std::vector<std::size_t> sizes = {0, 1};
  for (std::size_t size = 60; size <= 130; ++size) sizes.push_back(size);
  for (std::size_t size = 16310; size <= 16386; ++size) sizes.push_back(size);
  return sizes;
}

/// `text` with edits of its bytes, which are not in a field.
struct TextEdit {
  onnx::Range range;
  std::string text;
};

std::string edited(std::string_view text, const std::vector<TextEdit>& edits) {
  onnx::Splice splice(as_bytes(text));
  for (const TextEdit& edit : edits) splice.replace(onnx::Splice::outermost, edit.range, edit.text);
  onnx::Rope rope = std::move(splice).result();
  EXPECT_EQ(rope.size(), rope.flat().size());
  return text_of(rope.flat());
}

TEST(Splice, WithoutEditsTheMessageStaysAsItIs) {
  const Blob message = nested(300).take();
  onnx::Splice splice(message);
  enter_innermost(splice, message);
  EXPECT_EQ(std::move(splice).result().flat(), message);
  EXPECT_TRUE(onnx::Splice(Bytes()).result().flat().empty());
}

TEST(Splice, EnclosingLengthsFollowAnEditBothWays) {
  for (const std::size_t before : {0U, 1U, 63U, 100U, 127U, 128U, 16311U, 16350U, 16383U, 16384U}) {
    const Blob first = nested(before).take();
    for (const std::size_t after : sizes_at_borders()) {
      const Blob second = with_payload(first, after);
      ASSERT_EQ(second, nested(after).view()) << before << " to " << after;
      ASSERT_EQ(with_payload(second, before), first) << after << " back to " << before;
    }
  }
}

TEST(Splice, PaddedLengthsStayAsWideAsTheyAre) {
  for (const std::size_t width : {4U, 5U, 10U}) {
    const Blob first = nested(20, width).take();
    for (const std::size_t after : sizes_at_borders()) {
      const Blob second = with_payload(first, after);
      ASSERT_EQ(second, nested(after, width).view()) << after << " in " << width;
      ASSERT_EQ(with_payload(second, 20), first) << after << " in " << width;
    }
  }
}

TEST(Splice, ALengthThatOutgrowsItsPaddingIsAsShortAsCanBe) {
  const Blob second = with_payload(nested(20, 2).take(), 20000);
  EXPECT_EQ(second, nested(20000).view());
}

TEST(Splice, EditOfEqualSizeKeepsLengths) {
  const Blob message = nested(200).take();
  onnx::Splice splice(message);
  const Innermost at = enter_innermost(splice, message);
  const onnx::Field payload = find(message, at.range, payload_field);
  splice.replace(at.frame, payload.value, std::string(200, 'n'));
  Blob expected = message;
  std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(payload.value.begin), 200, std::byte{'n'});
  EXPECT_EQ(std::move(splice).result().flat(), expected);
}

TEST(Splice, InsertionsAtBothEndsLieWithinTheMessage) {
  const Message inner = Message().varint(5, 1);
  const Message message = Message().string(3, "a").message(2, inner).string(3, "b");
  onnx::Splice splice(message.view());
  const onnx::Field child = find(message.view(), {0, message.size()}, 2);
  const onnx::Splice::Frame frame = splice.enter(onnx::Splice::outermost, child);
  splice.replace(frame, {child.value.begin, child.value.begin}, Message().varint(4, 1).str());
  splice.replace(frame, {child.value.end, child.value.end}, Message().varint(6, 1).str());
  const Message grown = Message().varint(4, 1).varint(5, 1).varint(6, 1);
  EXPECT_EQ(std::move(splice).result().flat(), Message().string(3, "a").message(2, grown).string(3, "b").view());
}

TEST(Splice, EmptyMessageCanBeFilledAndEmptied) {
  const Message hollow = Message().message(2, Message());
  const Message filled = Message().message(2, Message().string(1, std::string(130, 'x')));
  const auto replace_content = [](const Message& message, std::string text) {
    onnx::Splice splice(message.view());
    const onnx::Field child = find(message.view(), {0, message.size()}, 2);
    splice.replace(splice.enter(onnx::Splice::outermost, child), child.value, std::move(text));
    return std::move(splice).result().flat();
  };
  EXPECT_EQ(replace_content(hollow, Message().string(1, std::string(130, 'x')).str()), filled.view());
  EXPECT_EQ(replace_content(filled, ""), hollow.view());
}

TEST(Splice, SiblingsAreEditedEachWithItsOwnLength) {
  const auto family = [](std::size_t a, std::size_t b, std::size_t c) {
    Message all;
    for (const std::size_t size : {a, b, c}) all.message(2, Message().bytes(1, pattern(size)).varint(7, 7));
    return Message().message(8, all).varint(9, 9);
  };
  const Message message = family(5, 200, 127);
  onnx::Splice splice(message.view());
  const onnx::Field parent = find(message.view(), {0, message.size()}, 8);
  const onnx::Splice::Frame outer = splice.enter(onnx::Splice::outermost, parent);
  constexpr std::array<std::size_t, 3> sizes = {300, 0, 128};
  onnx::Cursor cursor(message.view(), parent.value);
  onnx::Field child;
  for (std::size_t i = 0; i < sizes.size() && cursor.next(child); ++i) {
    const onnx::Field payload = find(message.view(), child.value, 1);
    splice.replace(splice.enter(outer, child), payload.whole, Message().bytes(1, pattern(sizes.at(i))).str());
  }
  EXPECT_EQ(std::move(splice).result().flat(), family(300, 0, 128).view());
}

TEST(Splice, AHundredLevelsGetTheirLengthsRight) {
  const auto deep = [](std::size_t payload) {
    Message message = Message().bytes(1, pattern(payload));
    for (int level = 0; level < 100; ++level) message = Message().message(2, message);
    return message.take();
  };
  const Blob message = deep(1);
  onnx::Splice splice(message);
  onnx::Splice::Frame frame = onnx::Splice::outermost;
  onnx::Range range{0, message.size()};
  for (int level = 0; level < 100; ++level) {
    const onnx::Field child = find(message, range, 2);
    frame = splice.enter(frame, child);
    range = child.value;
  }
  splice.replace(frame, range, Message().bytes(1, pattern(300)).str());
  EXPECT_EQ(std::move(splice).result().flat(), deep(300));
}

TEST(Splice, EditsOfOneMessageMayMeet) {
  // At its ends.
  EXPECT_EQ(edited("abc", {{{0, 0}, "<"}, {{3, 3}, ">"}}), "<abc>");
  EXPECT_EQ(edited("abc", {{{0, 3}, ""}}), "");
  EXPECT_EQ(edited("abc", {{{0, 1}, ""}, {{2, 3}, ""}}), "b");
  EXPECT_EQ(edited("", {{{0, 0}, "x"}}), "x");
  // Made in any order; insertions at one place stay in theirs.
  EXPECT_EQ(edited("abcdef", {{{4, 5}, "E"}, {{0, 0}, "<"}, {{2, 3}, ""}}), "<abdEf");
  EXPECT_EQ(edited("ab", {{{1, 1}, "1"}, {{1, 1}, "2"}, {{1, 1}, "3"}}), "a123b");
  // An insertion comes before what is taken out at its place, and is kept within it.
  EXPECT_EQ(edited("abcd", {{{1, 3}, "X"}, {{1, 1}, "i"}}), "aiXd");
  EXPECT_EQ(edited("abcd", {{{1, 1}, "i"}, {{1, 3}, ""}}), "aid");
  EXPECT_EQ(edited("abcdef", {{{1, 5}, ""}, {{3, 3}, "i"}}), "aif");
  EXPECT_EQ(edited("abcdef", {{{1, 3}, ""}, {{3, 3}, "i"}, {{3, 5}, ""}}), "aif");
}

/// Claims a size and hands out a few bytes: a payload that is too large to write in a test.
class Huge final : public ByteSource {
 public:
  [[nodiscard]] std::uint64_t size() const override { return 5ULL << 30U; }
  void read(const ByteSink& sink) const override { sink(as_bytes("...")); }
};

TEST(Splice, ASourceFollowsItsTextAndMayExceed4GiB) {
  const Message message = Message().message(2, Message().varint(1, 1));
  onnx::Splice splice(message.view());
  const onnx::Field child = find(message.view(), {0, message.size()}, 2);
  splice.replace(splice.enter(onnx::Splice::outermost, child), child.value, "head", std::make_shared<Huge>());
  const onnx::Rope rope = std::move(splice).result();
  std::string written;
  rope.read([&written](Bytes piece) { written += as_text(piece); });
  EXPECT_EQ(written, Message().claimed_length(2, (5ULL << 30U) + 4).str() + "head...");
  EXPECT_EQ(rope.size(), 1 + 5 + (5ULL << 30U) + 4);
}

/// Announces 2^60 bytes and has none.
class AnnouncedOnly final : public ByteSource {
 public:
  [[nodiscard]] std::uint64_t size() const override { return 1ULL << 60U; }
  void read(const ByteSink&) const override {}
};

TEST(Splice, SizesThatAddUpToTooMuchAreRefused) {
  const Message message = nested(10);
  const auto source = std::make_shared<AnnouncedOnly>();
  onnx::Splice one_frame(message.view());
  one_frame.replace(onnx::Splice::outermost, {0, 0}, "", source);
  one_frame.replace(onnx::Splice::outermost, {0, 0}, "", source);
  EXPECT_EQ(code_of([&] { one_frame.replace(onnx::Splice::outermost, {0, 0}, "", source); }), Code::usage_argument);
  onnx::Splice two_frames(message.view());  // each frame is within the limit, and the outer one has both
  const Innermost inner = enter_innermost(two_frames, message.view());
  two_frames.replace(inner.frame, {inner.range.begin, inner.range.begin}, "", source);
  two_frames.replace(onnx::Splice::outermost, {0, 0}, "", source);
  EXPECT_EQ(code_of([&] { return std::move(two_frames).result().size(); }), Code::usage_argument);
}

TEST(Splice, ASingleByteChangesTheLengthOfItsMessage) {
  const Blob message = Message().bytes(child_field, blob("abc")).take();
  const auto changed = [&message](onnx::Range range, std::string text) {
    onnx::Splice splice(message);
    const onnx::Field child = find(message, {0, message.size()}, child_field);
    const onnx::Splice::Frame frame = splice.enter(onnx::Splice::outermost, child);
    splice.replace(frame, {child.value.begin + range.begin, child.value.begin + range.end}, std::move(text));
    return std::move(splice).result().flat();
  };
  EXPECT_EQ(changed({1, 2}, ""), Message().bytes(child_field, blob("ac")).take());
  EXPECT_EQ(changed({1, 1}, "x"), Message().bytes(child_field, blob("axbc")).take());
}

}  // namespace

}  // namespace onnxar::testing
