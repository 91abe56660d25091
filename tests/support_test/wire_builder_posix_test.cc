// The messages that wire_builder.h builds have the bytes of protobuf, and Python's onnx parses the models.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/temp_dir.h"
#include "support/wire_builder.h"
#include "support/zip_builder.h"
#include "support_test/hex.h"
#include "support_test/shell.h"

namespace onnxar::testing {
namespace {

TEST(Message, FieldsAreProtobufsExamples) {
  EXPECT_EQ(Message().varint(1, 150).take(), hex({0x08, 0x96, 0x01}));
  EXPECT_EQ(Message().string(2, "testing").take(), hex({0x12, 7, 't', 'e', 's', 't', 'i', 'n', 'g'}));
  EXPECT_EQ(Message().packed_varints(6, {3, 270, 86942}).take(), hex({0x32, 6, 3, 0x8e, 2, 0x9e, 0xa7, 5}));
  EXPECT_EQ(Message().fixed32(1, 0x01020304).take(), hex({0x0d, 4, 3, 2, 1}));
  EXPECT_EQ(Message().fixed64(1, 1).take(), hex({0x09, 1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(Message().message(3, Message().varint(1, 150)).take(), hex({0x1a, 3, 0x08, 0x96, 0x01}));
  EXPECT_EQ(Message().signed_varint(1, -1).size(), 11U);
  EXPECT_EQ(Message().group(1, Message().varint(1, 0)).take(), hex({0x0b, 0x08, 0, 0x0c}));
  EXPECT_EQ(Message().varint(16, 0).take(), hex({0x80, 0x01, 0}));
}

TEST(Message, PaddedFormsHaveTheirWidth) {
  EXPECT_EQ(Message().padded_varint(1, 1, 3).take(), hex({0x08, 0x81, 0x80, 0x00}));
  EXPECT_EQ(Message().padded_tag(1, 0, 2).take(), hex({0x88, 0x00}));
  EXPECT_EQ(Message().padded_length_message(1, Message().varint(1, 0), 10).size(), 1U + 10 + 2);
  EXPECT_EQ(Message().claimed_length(1, 5).take(), hex({0x0a, 5}));
}

TEST(TensorBuilder, FieldsAscendUnlessOrdered) {
  TensorBuilder builder = tensor("w", dtype::float32, {2}).raw_data(blob("12345678"));
  EXPECT_EQ(builder.message().take(),
            hex({0x08, 2, 0x10, 1, 0x42, 1, 'w', 0x4a, 8, '1', '2', '3', '4', '5', '6', '7', '8'}));
  builder.order({tensor_field::raw_data, tensor_field::name});
  EXPECT_EQ(builder.message().take(),
            hex({0x4a, 8, '1', '2', '3', '4', '5', '6', '7', '8', 0x42, 1, 'w', 0x08, 2, 0x10, 1}));
  EXPECT_EQ(tensor("", dtype::int8, {1, 2}).packed_dims().message().take(), hex({0x0a, 2, 1, 2, 0x10, 3}));
}

TEST(TensorBuilder, TypedFieldsHaveBothForms) {
  const auto field_only = [](TensorBuilder builder) {
    return builder.without(tensor_field::dims).without(tensor_field::data_type).message().take();
  };
  const TensorBuilder none = tensor("", dtype::float32, {});
  EXPECT_EQ(field_only(TensorBuilder(none).float_data({1.0F})), hex({0x22, 4, 0, 0, 0x80, 0x3f}));
  EXPECT_EQ(field_only(TensorBuilder(none).float_data({1.0F}, Repeated::unpacked)), hex({0x25, 0, 0, 0x80, 0x3f}));
  EXPECT_EQ(field_only(TensorBuilder(none).int32_data({-1})).size(), 1U + 1 + 10);
  EXPECT_EQ(field_only(TensorBuilder(none).int64_data({5, 6}, Repeated::unpacked)), hex({0x38, 5, 0x38, 6}));
}

TEST(TensorBuilder, ExternalNamesLocationOffsetAndLength) {
  const std::string wire = tensor("w", dtype::float32, {2}).external("w", 64, 8).message().str();
  EXPECT_NE(wire.find("location"), std::string::npos);
  EXPECT_NE(wire.find("offset\x12\x02"
                      "64"),
            std::string::npos);
  EXPECT_NE(wire.find("length\x12\x01"
                      "8"),
            std::string::npos);
  EXPECT_EQ(wire.substr(wire.size() - 2), "\x70\x01");
}

TEST(SubgraphOfDepth, EqualsTheSameBuiltByHand) {
  const Message innermost = graph({.name = "inner"});
  Message expected = innermost;
  for (int level = 0; level < 12; ++level) {
    expected = graph({.nodes = {node("Loop", {}, {}, {attribute_g("body", expected)})}});
  }
  EXPECT_EQ(subgraph_of_depth(12, innermost).str(), expected.str());
  EXPECT_EQ(subgraph_of_depth(0, innermost).str(), innermost.str());
}

// The schema of another maker parses the models; skipped where Python has no onnx.
TEST(Model, PythonsOnnxAcceptsAModelWithEverything) {
  if (exit_code("/usr/bin/python3 -c 'import onnx'") != 0) GTEST_SKIP() << "no Python onnx";
  const Message weight = tensor("c", dtype::float32, {2}).raw_data(Blob(8));
  ModelParts parts;
  parts.graph =
      graph({.nodes = {constant("c", weight), node("f", {"c"}, {"y"}, {}, "onnxar.test"),
                       node("Any", {}, {},
                            {attribute_tensors("ts", {weight}), attribute_i("i", -3), attribute_ints("is", {1, -2})})},
             .sparse_initializers = {sparse_tensor(weight, tensor("", dtype::int64, {2}), {9})},
             .outputs = {value_info("y", dtype::float32, {2})}});
  parts.functions = {function({.inputs = {"a"}, .outputs = {"b"}, .nodes = {node("Identity", {"a"}, {"b"})}})};
  parts.training = {training_info(graph({}), subgraph_of_depth(3))};
  parts.metadata = {string_entry("key", "value")};
  const TempDir folder;
  const std::string path = folder.write_file("m.onnx", model(parts).take()).string();
  const std::string script =
      "import onnx; data = open('" + path +
      "', 'rb').read(); m = onnx.ModelProto(); m.ParseFromString(data);"
      "n = m.graph.node[2].attribute;"
      "assert m.SerializeToString() == data and len(m.graph.node) == 3 and m.functions[0].name == 'f';"
      "assert [a.type for a in n] == [9, 2, 7] and n[1].i == -3 and list(n[2].ints) == [1, -2];"
      "assert m.training_info[0].algorithm.node[0].attribute[0].g.node[0].attribute[0].type == 5;"
      "assert m.graph.sparse_initializer[0].dims == [9] and m.metadata_props[0].value == 'value';"
      "assert m.graph.output[0].type.tensor_type.shape.dim[0].dim_value == 2";
  EXPECT_EQ(exit_code("/usr/bin/python3 -c \"" + script + "\""), 0);
}

TEST(Model, UnzippedSmallestArchiveIsAnOnnxModel) {
  if (exit_code("/usr/bin/python3 -c 'import onnx'") != 0) GTEST_SKIP() << "no Python onnx";
  const TempDir folder;
  folder.write_file("a.zip", smallest_archive().bytes);
  const std::string script =
      "import onnx, zipfile; zipfile.ZipFile('a.zip').extractall('out');"
      "onnx.checker.check_model('out/__MODEL_PROTO'); m = onnx.load('out/__MODEL_PROTO');"
      "assert len(m.graph.initializer[0].raw_data) == 1024";
  EXPECT_EQ(exit_code("cd " + folder.path().string() + " && /usr/bin/python3 -c \"" + script + "\""), 0);
}

}  // namespace
}  // namespace onnxar::testing
