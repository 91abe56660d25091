// Tests the checks of answers of servers.
#include "remote/answer.h"

#include <gtest/gtest.h>

#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

Answer answer_of(const std::vector<std::string>& lines) {
  Answer answer;
  for (const std::string& line : lines) answer.add_line(line + "\r\n");
  return answer;
}

TEST(ContentRange, HasTheFirstAndLastByteAndTheSize) {
  const auto range = parse_content_range("bytes 5-9/100");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, 5U);
  EXPECT_EQ(range->last, 9U);
  EXPECT_EQ(range->size, 100U);
  EXPECT_EQ(range->length(), 5U);
}

TEST(ContentRange, RefusesAnotherForm) {
  for (const char* const text :
       {"", "bytes", "bytes 5-9", "bytes 5-9/*", "bytes */100", "bytes 9-5/100", "bytes 5-100/100", "bytes -5/100",
        "bytes 5-9/100 ", "bytes 5-9/100x", "bytes +5-9/100", "items 5-9/100", "bytes 5-18446744073709551616/100",
        "bytes 0-18446744073709551615/18446744073709551615"}) {
    EXPECT_FALSE(parse_content_range(text)) << text;
  }
}

TEST(Answer, HasTheFieldsOfTheHead) {
  const Answer answer =
      answer_of({"HTTP/1.1 206 Partial Content", "ETag: \"a\"", "content-range:bytes 0-1/2", "Content-Length: 2",
                 "Last-Modified:  Mon, 23 Nov 2026 10:00:00 GMT ", "Retry-After: 7", "Content-Encoding: identity"});
  EXPECT_EQ(answer.status, 206);
  EXPECT_EQ(answer.version.etag, "\"a\"");
  EXPECT_EQ(answer.range()->size, 2U);
  EXPECT_EQ(answer.length, 2U);
  EXPECT_EQ(answer.version.last_modified, "Mon, 23 Nov 2026 10:00:00 GMT");
  EXPECT_EQ(answer.retry_after, std::chrono::seconds(7));
  EXPECT_EQ(answer.encoding, "");
}

TEST(Answer, IsTheLastOne) {
  const Answer answer = answer_of({"HTTP/1.1 100 Continue", "ETag: \"a\"", "", "HTTP/2 404"});
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.version.etag, "");
}

TEST(Answer, IgnoresTrailers) {
  const Answer answer = answer_of({"HTTP/1.1 206 Partial Content", "ETag: \"a\"", "Content-Range: bytes 0-1/2", "",
                                   "ETag: \"b\"", "Content-Range: x"});
  EXPECT_EQ(answer.version.etag, "\"a\"");
  EXPECT_EQ(answer.range()->size, 2U);
}

TEST(Version, DiffersOnlyInWhatBothState) {
  const Version first{"\"a\"", "then", 10};
  EXPECT_TRUE(first.agrees({"\"a\"", "later", 10}));
  EXPECT_TRUE(first.agrees({}));
  EXPECT_FALSE(first.agrees({"\"b\"", "then", 10}));
  EXPECT_FALSE(first.agrees({"\"a\"", "then", 11}));
  EXPECT_FALSE((Version{"", "then", {}}).agrees({"", "later", {}}));
}

TEST(Version, GoesIntoIfRangeIfItIsStrong) {
  EXPECT_EQ((Version{"\"a\"", "then", {}}).for_if_range(), "\"a\"");
  EXPECT_EQ((Version{"", "then", {}}).for_if_range(), "then");
  EXPECT_EQ((Version{"W/\"a\"", "then", {}}).for_if_range(), "");
  EXPECT_EQ((Version{"\"a\rX: b\"", "then", {}}).for_if_range(), "");
}

const std::string several =
    "\r\n--x y\r\nContent-Type: a/b\r\nContent-Range: bytes 0-2/20\r\n\r\nabc\r\n--x y\r\nContent-range: bytes "
    "10-11/20\r\n\r\n\r\n\r\n--x y--\r\n";

TEST(Multipart, ReturnsEachPartWithItsRange) {
  for (const char* const type : {"multipart/byteranges; boundary=\"x y\"", "multipart/byteranges; BOUNDARY=x y; a=b"}) {
    const Blob body = blob(several);
    const auto parts = parse_multipart(body, type);
    ASSERT_TRUE(parts) << type;
    ASSERT_EQ(parts->size(), 2U);
    EXPECT_EQ(as_text((*parts)[0].bytes), "abc");
    EXPECT_EQ((*parts)[1].range.first, 10U);
    EXPECT_EQ(as_text((*parts)[1].bytes), "\r\n");
  }
}

TEST(Multipart, RefusesATruncatedBody) {
  for (std::size_t length = 0; length < several.size() - 2; ++length) {  // the last line break may be missing
    const Blob body = blob(several.substr(0, length));
    EXPECT_FALSE(parse_multipart(body, "multipart/byteranges; boundary=x y")) << length;
  }
}

TEST(Multipart, NeedsABoundary) {
  const Blob body = blob(several);
  EXPECT_FALSE(parse_multipart(body, "multipart/byteranges"));
  EXPECT_FALSE(parse_multipart(body, "multipart/byteranges; boundary=z"));
}

}  // namespace
}  // namespace onnxar::testing
