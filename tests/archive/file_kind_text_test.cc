// Tests the advice on files in text formats.
#include <gtest/gtest.h>

#include <string>

#include "archive/file_kind.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

TEST(TextFormatTest, SpaceCommentsAndAFieldAreText) {
  for (const std::string text : {"ir_version: 8", "graph{}", "graph < >", " \t\r\n\v\fgraph {", "# comment\n\n# :\nx:1",
                                 "graph # of what\n {", "\xef\xbb\xbfir_version:8", "unknown_name {"}) {
    EXPECT_TRUE(looks_like_text(as_bytes(text))) << text;
  }
}

TEST(TextFormatTest, OtherBytesAreNotText) {
  for (const std::string text : {"", " ", "# comment", "# comment\n", "graph", "graph graph {", "8: 1", ": 1", "{}",
                                 "PK\3\4", "[a]: 1", "\xef\xbb\xbf", "\xef\xbb"}) {
    EXPECT_FALSE(looks_like_text(as_bytes(text))) << text;
  }
}

TEST(TextFormatTest, AModelOnTheWireIsNotTextWithAnyFirstField) {
  const Message graph = testing::graph({.initializers = {testing::tensor("w", testing::dtype::uint8, {3})}});
  const auto is_text = [&](Message message) { return looks_like_text(message.message(7, graph).view()); };
  EXPECT_FALSE(is_text(Message().varint(1, 8)));
  EXPECT_FALSE(is_text(Message().string(2, "ir_version: 8 graph {")));
  EXPECT_FALSE(is_text(Message().string(14, "x")));  // its tag is a letter
  // Tag and length are letters, and the next byte is one that begins a value in text format: a key of 58 bytes.
  EXPECT_FALSE(is_text(Message().message(14, testing::string_entry(std::string(58, 'k'), std::string(40, 'v')))));
  EXPECT_FALSE(is_text(Message().message(8, testing::opset(std::string(58, 'd'), 1))));
}

}  // namespace
}  // namespace onnxar::testing
