// Sources that break their contract: exactly the announced bytes are written, or it is an error. Comparing sources.
#include "base/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "support/refusal.h"
#include "support/wire_builder.h"

namespace onnxar::base {
namespace {

using onnxar::testing::code_of;
using onnxar::testing::error_if_any;
using onnxar::testing::expect_error;

/// Announces `size` bytes and gives any number of them.
class FreeSource final : public ByteSource {
 public:
  FreeSource(std::uint64_t size, std::function<void(const ByteSink&)> give) : size_(size), give_(std::move(give)) {}
  [[nodiscard]] std::uint64_t size() const override {
    ++asked;
    return size_ + asked - 1;  // a different size at every call
  }
  void read(const ByteSink& sink) const override { give_(sink); }

  mutable std::uint64_t asked = 0;

 private:
  std::uint64_t size_;
  std::function<void(const ByteSink&)> give_;
};

/// Gives `text` and swallows exceptions of the sink.
void give_and_lose(const ByteSink& sink, std::string_view text) {
  try {
    sink(as_bytes(text));
  } catch (...) {
    return;  // swallowed
  }
}

std::string read_text(const ByteSource& source) {
  std::string text;
  source.read([&text](Bytes piece) { text += as_text(piece); });
  return text;
}

TEST(ExactSource, ReturnsAnnouncedBytesInPiecesOfAnySize) {
  const FreeSource source(4, [](const ByteSink& sink) {
    for (const char* piece : {"", "a", "bcd", ""}) sink(as_bytes(piece));
  });
  EXPECT_EQ(read_text(ExactSource(source)), "abcd");
}

TEST(ExactSource, AsksForTheSizeOnce) {
  const FreeSource source(4, [](const ByteSink& sink) { sink(as_bytes("abcd")); });
  const ExactSource exact(source);
  EXPECT_EQ(exact.size(), 4U);
  EXPECT_EQ(exact.size(), 4U);
  EXPECT_EQ(read_text(exact), "abcd");
  EXPECT_EQ(source.asked, 1U);
}

TEST(ExactSource, RefusesOtherSizesAndPassesNoExtraByte) {
  for (const std::string text : {"", "abc", "abcde"}) {
    SCOPED_TRACE(text);
    const FreeSource source(4, [&](const ByteSink& sink) { sink(as_bytes(text)); });
    std::size_t got = 0;
    expect_error(error_if_any([&] {
                   ExactSource(source, "weight 7", {"w", std::nullopt}).read([&](Bytes piece) { got += piece.size(); });
                 }),
                 {.code = Code::io_source_size,
                  .entry = "w",
                  .says = {"weight 7 is " + std::string(text.size() < 4 ? "shorter" : "longer")}});
    EXPECT_LE(got, 4U);
  }
}

TEST(ExactSource, RefusesTooManyBytesIfTheSourceHidesTheError) {
  for (const bool before : {true, false}) {
    const FreeSource source(4, [&](const ByteSink& sink) {
      if (before) give_and_lose(sink, "abcde");
      give_and_lose(sink, "abcd");
      if (!before) give_and_lose(sink, "e");
    });
    EXPECT_EQ(code_of([&] { read_text(ExactSource(source)); }), Code::io_source_size) << before;
  }
}

TEST(ExactSource, RethrowsTheSinksErrorAndStopsReading) {
  const FreeSource source(4, [](const ByteSink& sink) {
    for (const char* piece : {"a", "b", "cd"}) give_and_lose(sink, piece);
  });
  std::string got;
  const auto sink = [&got](Bytes piece) {
    got += as_text(piece);
    if (got == "ab") throw std::domain_error("the disk is full");
  };
  EXPECT_THROW(ExactSource(source).read(sink), std::domain_error);
  EXPECT_EQ(got, "ab");
}

using onnxar::testing::ErrorContext;
using onnxar::testing::refusal_of;

TEST(AnnouncedSize, SumUpToTheLimitIsReturned) {
  EXPECT_EQ(add_announced(0, 0), 0U);
  EXPECT_EQ(add_announced(1, largest_sum - 1), largest_sum);
  EXPECT_EQ(add_announced(largest_sum, 0), largest_sum);
}

TEST(AnnouncedSize, SumOverTheLimitIsRefusedAtThePlace) {
  constexpr std::uint64_t half = 1ULL << 63U;
  for (const auto& [total, size] : {std::pair(largest_sum, std::uint64_t{1}), std::pair(half, half),
                                    std::pair(std::uint64_t{1}, ~std::uint64_t{0})}) {
    EXPECT_EQ(refusal_of([&total, &size] { return add_announced(total, size, {"w", 7}); }),
              (ErrorContext{Code::usage_argument, "w", 7}));
  }
}

TEST(AnnouncedSize, ALowerLimitIsKept) {
  EXPECT_EQ(add_announced(60, 40, {}, 100), 100U);
  EXPECT_EQ(refusal_of([] { return add_announced(60, 41, {}, 100); }), ErrorContext{Code::usage_argument});
}

using onnxar::testing::Blob;

/// Bytes that count from 0.
Blob counting(std::size_t size) {
  Blob bytes(size);
  std::ranges::generate(bytes, [i = 0]() mutable { return static_cast<std::byte>(i++); });
  return bytes;
}

/// Hands bytes out one by one, with an empty piece before each.
class OneByOne final : public ByteSource {
 public:
  explicit OneByOne(Bytes bytes) : bytes_(bytes) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  void read(const ByteSink& sink) const override {
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      sink({});
      sink(bytes_.subspan(i, 1));
    }
  }

 private:
  Bytes bytes_;
};

TEST(HasBytes, IsFalseIfAnyByteDiffers) {
  const Blob bytes = counting(20);
  EXPECT_TRUE(has_bytes(OneByOne(bytes), bytes));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Blob other = bytes;
    other[i] ^= std::byte{0x80};
    EXPECT_FALSE(has_bytes(OneByOne(bytes), other)) << i;
  }
}

TEST(HasBytes, IsFalseForASourceOfAnotherSize) {
  const Blob bytes = counting(100);
  for (const std::size_t delivered : {0U, 99U, 101U, 200U}) {
    Blob other = bytes;
    other.resize(delivered);
    EXPECT_FALSE(has_bytes(SpanSource(other), bytes)) << delivered;
  }
}

}  // namespace
}  // namespace onnxar::base
