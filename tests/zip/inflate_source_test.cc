// Deflated data: whole, damaged, cut, too long, and never more than was announced.
#include "zip/inflate_source.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <limits>
#include <stdexcept>

#include "zip/foreign_directory.h"
#include "zip/reading.h"

namespace onnxar::testing {
namespace {

/// As zip tools deflate: a raw stream.
Blob deflated(const Blob& data) {
  z_stream stream{};
  if (::deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  Blob out(::deflateBound(&stream, static_cast<uLong>(data.size())));
  Blob in = data;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (::deflate(&stream, Z_FINISH) != Z_STREAM_END) throw std::logic_error("deflate");
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

const Place here{"w", 77};

struct Inflated {
  Blob data;
  std::size_t largest_piece = 0;
};

Inflated inflated(const Blob& stream, std::uint64_t size) {
  const GuardedBuffer guarded = GuardedBuffer::ending_at_guard(stream);
  Inflated result;
  zip::InflateSource(guarded.bytes(), size, here).read([&](Bytes piece) {
    EXPECT_FALSE(piece.empty());
    result.data.insert(result.data.end(), piece.begin(), piece.end());
    result.largest_piece = std::max(result.largest_piece, piece.size());
  });
  return result;
}

std::optional<ErrorContext> refusal_of_stream(const Blob& stream, std::uint64_t size) {
  return refusal_of([&] { return inflated(stream, size).data.size(); });
}

const ErrorContext refused{Code::zip_data_inflate, "w", 77};

TEST(InflateSource, RestoresWhatWasDeflated) {
  for (const std::size_t size : {0U, 1U, 1000U, 300000U, 3000000U}) {
    const Blob data = pattern(size);
    EXPECT_TRUE(inflated(deflated(data), size).data == data) << size;
  }
}

// zlib has taken all of the input when it has filled the reader's buffer of 256 KiB, and still holds some output.
TEST(InflateSource, OutputThatIsPendingAtTheEndOfTheInputIsRead) {
  for (std::size_t size = 262144; size < 262144 + 1100; size += 50) {
    EXPECT_EQ(inflated(deflated(Blob(size)), size).data.size(), size);
  }
}

TEST(InflateSource, SaysTheSizeThatWasAnnounced) { EXPECT_EQ(zip::InflateSource(Bytes(), 12345, here).size(), 12345U); }

TEST(InflateSource, HandsOutSmallPiecesAtAnySize) {
  const Inflated result = inflated(deflated(Blob(20U << 20U)), 20U << 20U);
  EXPECT_EQ(result.data.size(), 20U << 20U);
  EXPECT_LE(result.largest_piece, 1U << 20U);
}

TEST(InflateSource, CanBeReadTwice) {
  const Blob data = pattern(1000);
  const Blob stream = deflated(data);
  const zip::InflateSource source(stream, data.size(), here);
  for (int i = 0; i < 2; ++i) {
    Blob out;
    source.read([&out](Bytes piece) { out.insert(out.end(), piece.begin(), piece.end()); });
    EXPECT_EQ(out, data);
  }
}

TEST(InflateSource, AnotherSizeThanAnnouncedIsRefused) {
  const Blob stream = deflated(pattern(1000));
  for (const std::uint64_t size : {0ULL, 1ULL, 999ULL, 1001ULL, 1ULL << 40U}) {
    EXPECT_EQ(refusal_of_stream(stream, size), refused) << size;
  }
}

TEST(InflateSource, StopsAsSoonAsThereIsMoreThanWasAnnounced) {
  const Blob bomb = deflated(Blob(64U << 20U));
  ASSERT_LT(bomb.size(), 70000U);
  std::size_t seen = 0;
  const auto refusal = refusal_of([&] {
    zip::InflateSource(bomb, 10, here).read([&seen](Bytes piece) { seen += piece.size(); });
    return 0;
  });
  EXPECT_EQ(refusal, refused);
  EXPECT_EQ(seen, 0U);
}

TEST(InflateSource, StreamCutAtAnyByteIsRefused) {
  const Blob whole = deflated(pattern(500));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(refusal_of_stream(part(whole, 0, size), 500), refused) << size;
  }
}

TEST(InflateSource, BytesAfterTheStreamAreRefused) {
  Blob stream = deflated(pattern(500));
  stream.push_back(std::byte{0});
  EXPECT_EQ(refusal_of_stream(stream, 500), refused);
}

TEST(InflateSource, BytesThatAreNotAStreamAreRefused) {
  EXPECT_EQ(refusal_of_stream(Blob(10, std::byte{0xff}), 500), refused);
  EXPECT_EQ(refusal_of_stream(blob("\x78\x9c with a header of zlib"), 500), refused);
}

TEST(InflateSource, ErrorsOfTheSinkComeThrough) {
  const Blob stream = deflated(pattern(500));
  EXPECT_THROW(zip::InflateSource(stream, 500, here).read([](Bytes) { throw std::domain_error("mine"); }),
               std::domain_error);
}

TEST(CanInflateTo, KnowsTheLargestRatioOfDeflate) {
  EXPECT_TRUE(zip::can_inflate_to(1, 1032));
  EXPECT_FALSE(zip::can_inflate_to(1, 1033));
  EXPECT_FALSE(zip::can_inflate_to(0, 1));
  EXPECT_TRUE(zip::can_inflate_to(0, 0));
  EXPECT_TRUE(zip::can_inflate_to(1ULL << 62U, std::numeric_limits<std::uint64_t>::max()));
  const Blob zeros_stream = deflated(Blob(64U << 20U));  // as close as zlib gets
  EXPECT_TRUE(zip::can_inflate_to(zeros_stream.size(), 64U << 20U));
}

}  // namespace
}  // namespace onnxar::testing
