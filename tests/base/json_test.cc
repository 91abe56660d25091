// Tests reading JSON, and the refusal of what is not JSON.
#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/refusal.h"

namespace onnxar::testing {
namespace {

using base::JsonKind;
using base::JsonReader;
using base::JsonValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Code code = Code::usage_argument;

/// Skips the whole text.
void read(std::string_view text) {
  JsonReader json(text, code);
  json.skip();
  json.finish();
}

std::optional<Code> code_of_text(std::string_view text) {
  return code_of([&] { read(text); });
}

TEST(Edited, ReplacesInsertsAndRemoves) {
  const std::string_view text = "0123456789";
  EXPECT_EQ(base::edited(text, {}), text);
  EXPECT_EQ(base::edited(text, {{0, {0, "a"}}, {3, {5, ""}}, {7, {8, "seven"}}, {10, {10, "z"}}}), "a01256seven89z");
  EXPECT_EQ(base::edited(text, {{0, {1, ""}}, {9, {10, ""}}}), "12345678");
  EXPECT_EQ(base::edited(text, {{0, {10, "all"}}}), "all");
}

TEST(JsonReader, SkipsEveryKindOfValue) {
  for (const std::string_view text : {"null", " true ", "false", "0", "-0", "-12.5e+3", "1E9", "\"\"", R"("\u00e9\n")",
                                      "[]", "{}", "[[],{}]", R"({"a":[1,{"b":null}],"a":2})", "\t[ 1 ,\r\n2 ]"}) {
    EXPECT_EQ(code_of_text(text), std::nullopt) << text;
  }
}

TEST(JsonReader, RefusesWhatJsonDoesNotAllow) {
  for (const std::string_view text : {"",
                                      " ",
                                      "nul",
                                      "NaN",
                                      "Infinity",
                                      "+1",
                                      "01",
                                      "1.",
                                      ".5",
                                      "1e",
                                      "-",
                                      "'a'",
                                      "\"a",
                                      "\"\n\"",
                                      R"("\x")",
                                      R"("\ud800")",
                                      R"("\u12g4")",
                                      "[",
                                      "[1",
                                      "[1,",
                                      "[1,]",
                                      "[,1]",
                                      "[1 2]",
                                      "[}",
                                      "{",
                                      "{]",
                                      R"({"a"})",
                                      R"({"a":})",
                                      R"({"a":1,})",
                                      "{1:2}",
                                      "{a:1}",
                                      "1 2",
                                      "[]]",
                                      "// x\n1",
                                      "\xef\xbb\xbf{}",
                                      "\"\xff\"",
                                      "\"\xed\xa0\x80\""}) {
    EXPECT_EQ(code_of_text(text), code) << text;
  }
}

TEST(JsonReader, EveryCutIsRefused) {
  const std::string text = R"({"a":[1,-2.5e3,{"b":null}],"c\u00e9":"d\n"})";
  EXPECT_EQ(code_of_text(text), std::nullopt);
  for (std::size_t size = 0; size < text.size(); ++size) EXPECT_EQ(code_of_text(text.substr(0, size)), code) << size;
}

TEST(JsonReader, ErrorsCountFromTheFirstByte) {
  JsonReader json("[1, ?]", code, 100);
  EXPECT_EQ(error_if_any([&] { json.skip(); })->offset(), 104U);
  const std::string message = error_if_any([] { read("\xef\xbb\xbf{}"); })->message();
  EXPECT_THAT(message, HasSubstr("byte order mark"));
}

TEST(JsonReader, MembersKeepTheirOrderAndPlaces) {
  const std::string text = R"({ "b\u0041": [1, 2] , "a":"x","b\u0041" : 7})";
  JsonReader json(text, code);
  std::vector<std::string> found;
  json.object([&](const std::string& key) {
    const JsonValue value = json.skip();
    found.push_back(key + "=" + std::string(json.text_of(value)));
  });
  json.finish();
  EXPECT_THAT(found, ElementsAre("bA=[1, 2]", "a=\"x\"", "bA=7"));
}

TEST(JsonReader, ReadsAValueAgain) {
  const std::string text = R"([{"a": "\u20ac"}, 3])";
  JsonReader json(text, code);
  std::vector<JsonValue> items;
  json.list([&] { items.push_back(json.skip()); });
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].kind, JsonKind::object);
  EXPECT_EQ(items[1].kind, JsonKind::other);
  JsonReader inner(text, code, items[0]);
  std::string value;
  inner.object([&](const std::string&) { value = inner.string(); });
  inner.finish();
  EXPECT_EQ(value, "\xe2\x82\xac");
  JsonReader last(text, code, items[1]);
  EXPECT_EQ(last.number(), 3U);
}

TEST(JsonReader, AskedKindIsExpected) {
  const auto fails = [](std::string_view text, const auto& action) {
    JsonReader json(text, code);
    return code_of([&] { action(json); });
  };
  EXPECT_EQ(fails("1", [](JsonReader& json) { json.string(); }), code);
  EXPECT_EQ(fails("\"a\"", [](JsonReader& json) { json.number(); }), code);
  EXPECT_EQ(fails("[]", [](JsonReader& json) { json.object([](const std::string&) {}); }), code);
  EXPECT_EQ(fails("{}", [](JsonReader& json) { json.list([] {}); }), code);
  EXPECT_EQ(fails("18446744073709551616", [](JsonReader& json) { json.number(); }), code);
  EXPECT_THAT(error_if_any([] { JsonReader("1", code).string(); })->message(), HasSubstr("must have `\"` here"));
}

/// A million levels: a function that called itself for each would need more than a thread's stack.
TEST(JsonReader, DepthCostsNoStack) {
  constexpr std::size_t depth = 1'000'000;
  const std::string lists = std::string(depth, '[') + std::string(depth, ']');
  EXPECT_EQ(code_of_text(lists), std::nullopt);
  EXPECT_EQ(code_of_text(lists.substr(0, lists.size() - 1)), code);
  std::string objects;
  for (std::size_t i = 0; i < depth; ++i) objects += "{\"a\":";
  EXPECT_EQ(code_of_text(objects + "1" + std::string(depth, '}')), std::nullopt);
  EXPECT_EQ(code_of_text(objects), code);
}

TEST(JsonString, EscapesQuotesAndControlCharacters) {
  EXPECT_EQ(base::json_string("a\"b\\c\n\x1f/\xc3\xa4"), "\"a\\\"b\\\\c\\u000a\\u001f/\xc3\xa4\"");
  const std::string quoted = base::json_string("a\"\n");
  EXPECT_EQ(base::JsonReader(quoted, Code::usage_argument).string(), "a\"\n");
}

}  // namespace
}  // namespace onnxar::testing
