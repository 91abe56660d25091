// Tests which addresses are accepted, and how they are split.
#include "remote/address.h"

#include <gtest/gtest.h>

#include "support/refusal.h"

namespace onnxar::testing {
namespace {

Address parsed(std::string_view text, const RemoteOptions& options = {}) { return parse_address(text, options); }

TEST(Address, ShowsNoSecrets) {
  const Address address = parsed("https://me:p%40ss@host.example/a/b.onnxar?key=1#part");
  EXPECT_EQ(address.url, "https://host.example/a/b.onnxar?key=1");
  EXPECT_EQ(address.shown, "https://host.example/a/b.onnxar");
  EXPECT_EQ(address.site, "https://host.example:443");
  EXPECT_EQ(address.name, "me");
  EXPECT_EQ(address.password, "p@ss");
}

TEST(Address, OfAnotherProtocolIsRefused) {
  for (const char* const text : {"ftp://host/a", "file:///etc/passwd", "http://", "http://ho st/", "", "s3://bucket",
                                 "s3://bucket/", "s3://Bucket/key", "s3:///key", "http://a:b:c/"}) {
    EXPECT_EQ(code_of([&] { return parsed(text).url; }), Code::remote_address) << text;
  }
}

TEST(Address, WithANulByteIsRefused) {
  using std::string_view_literals::operator""sv;
  for (const std::string_view text : {"https://host/a\0b"sv, "s3://bucket/a\0b"sv}) {
    EXPECT_EQ(code_of([&] { return parsed(text).url; }), Code::remote_address) << text;
  }
}

TEST(Address, OfABucketIsOneOfItsStore) {
  EXPECT_EQ(parsed("s3://bucket/a b/c").url, "https://bucket.s3.us-east-1.amazonaws.com/a%20b/c");
  EXPECT_EQ(parsed("s3://bucket/a+b/../%\xC3\xBC").url, "https://bucket.s3.us-east-1.amazonaws.com/a%2Bb/../%25%C3%BC");
  const RemoteOptions own{.s3 = {.region = "eu", .endpoint = "http://127.0.0.1:9000"}};
  const Address address = parsed("s3://bucket/key", own);
  EXPECT_EQ(address.url, "http://127.0.0.1:9000/bucket/key");
  EXPECT_EQ(address.shown, "s3://bucket/key");
  EXPECT_TRUE(address.is_s3);
  EXPECT_EQ(parsed("s3://bucket/key", {.s3 = {.endpoint = "http://host/store/"}}).url, "http://host/store/bucket/key");
  for (const char* const wrong : {"http://host?a", "http://host#a", "ftp://host", "host"}) {
    EXPECT_EQ(code_of([&] { return parsed("s3://bucket/key", {.s3 = {.endpoint = wrong}}).url; }), Code::remote_address)
        << wrong;
  }
}

TEST(Redirect, MayBeRelative) {
  const Address from = parsed("http://me:pass@host/a/b?c");
  EXPECT_EQ(redirected(from, "d").url, "http://host/a/d");
  EXPECT_EQ(redirected(from, "/d?e=1").url, "http://host/d?e=1");
  EXPECT_EQ(redirected(from, "/d").name, "me");
}

TEST(Redirect, ToAnotherSiteHasNoSecrets) {
  const Address from = parsed("http://me:pass@host/a");
  for (const char* const to : {"http://other/a", "https://host/a", "http://host:81/a"}) {
    EXPECT_EQ(redirected(from, to).name + redirected(from, to).password, "") << to;
  }
  EXPECT_EQ(redirected(from, "http://host:80/b").name, "me");
}

TEST(Redirect, StaysWithHttpAndIsNotWeakened) {
  const Address from = parsed("https://host/a");
  for (const char* const to : {"file:///etc/passwd", "ftp://host/a", "http://host/a", "gopher://host"}) {
    EXPECT_EQ(code_of([&] { return redirected(from, to).url; }), Code::remote_answer) << to;
  }
  EXPECT_EQ(redirected(parsed("http://host/a"), "https://host/a").url, "https://host/a");
}

}  // namespace
}  // namespace onnxar::testing
