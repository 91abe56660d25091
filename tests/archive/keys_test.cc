// Names of entries: keys, graphs, reserved names, and the name of the archive itself.
#include "archive/keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "archive/opened.h"
#include "onnxar/archive.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

TEST(ReservedName, IsTwoUnderscoresAndACapital) {
  for (const std::string_view name : {"__A", "__Z", "__MODEL_PROTO"}) EXPECT_TRUE(is_reserved_name(name)) << name;
  for (const std::string_view name : {"", "_", "__", "__a", "__1", "___A", "_A", "A", "a__A", "__[", "a_A", "_aA"}) {
    EXPECT_FALSE(is_reserved_name(name)) << name;
  }
}

TEST(GraphName, IsInAnyFolderAndNotReserved) {
  EXPECT_TRUE(is_graph_name("decoder.onnx"));
  EXPECT_TRUE(is_graph_name("__decoder.onnx"));
  EXPECT_TRUE(is_graph_name("a/b/decoder.onnx"));
  for (const std::string_view name : {".onnx", "decoder.ONNX", "onnx", "a/.onnx", "__MODEL.onnx", ""}) {
    EXPECT_FALSE(is_graph_name(name)) << name;
  }
}

TEST(Identifier, IsWhatCSaysInAscii) {
  for (const std::string_view name : {"a", "_", "Z9", "__MODEL_PROTO"}) EXPECT_TRUE(is_identifier(name)) << name;
  for (const std::string_view name : {"", "9a", "a.b", "a b", "a/b", "\xc3\xb6", "a-b", "tokenizer.json"}) {
    EXPECT_FALSE(is_identifier(name)) << name;
  }
}

TEST(KeyStem, IsAKey) {
  EXPECT_EQ(key_stem("layer.1/weight"), "layer_1_weight");
  EXPECT_EQ(key_stem(""), "tensor");
  EXPECT_EQ(key_stem("1"), "_1");
  for (const std::string name : {"LICENSE", "README", "__MODEL", "aux"}) EXPECT_EQ(key_stem(name), "t_" + name);
  for (const std::size_t size : {199U, 200U, 201U}) {
    EXPECT_EQ(key_stem(std::string(size, 'a')), std::string(std::min<std::size_t>(size, 200), 'a'));
  }
  EXPECT_EQ(key_stem(std::string(200, '1')), "_" + std::string(199, '1'));
}

TEST(ReservedName, AndTheModelsInAnyCaseAreRefusedWithTheirPlace) {
  for (const std::string_view name : {"__A", "__MODEL_PROTO", "__model_proto"}) {
    EXPECT_EQ(refusal_of([&] { check_reserved(name, {std::string(name), 7}); }),
              (ErrorContext{Code::archive_name_reserved, std::string(name), 7}));
  }
  check_reserved("__a", {});
  check_reserved("w", {});
}

TEST(OwnName, IsThatOfTheArchivesFileInAnyCase) {
  const Archive archive = opened(smallest_archive().bytes);
  const auto refused = [&](const std::string& file) { return refusal_of([&] { refuse_own_name(archive, file); }); };
  EXPECT_EQ(refused("folder/x.onnxar"), std::nullopt);
  EXPECT_EQ(refused("folder/W"), (ErrorContext{Code::usage_own_name, "w", 0}));
}

}  // namespace

}  // namespace onnxar::testing
