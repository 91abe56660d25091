// Functions on messages: parsing under limits, visits, removal from lists.
#include "model/messages.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "support/refusal.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using Texts = std::vector<std::string>;

TEST(Messages, AreParsedUpToTheDepthThatIsAllowed) {
  const auto nested = [](int sequences) {
    Message type = Message().message(1, Message().varint(1, 1));  // a tensor type
    for (int i = 0; i < sequences; ++i) type = Message().message(4, Message().message(1, type));
    return Message().message(7, Message().message(11, Message().message(2, type)));
  };
  schema::ModelProto model;
  parse(model, nested(48).view());
  EXPECT_TRUE(model.graph().input(0).type().has_sequence_type());
  EXPECT_EQ(code_of([&] { parse(model, nested(50).view()); }), Code::onnx_model_invalid);
}

TEST(Messages, ThatAreDamagedAreRefused) {
  schema::ModelProto model;
  const std::string text = "\x3a\x05graph";  // a length beyond the end: field 1 of the graph is not a string
  EXPECT_EQ(code_of([&] { parse(model, as_bytes(text)); }), Code::onnx_model_invalid);
}

TEST(Messages, OfTwoGiBAreRefusedBeforeTheirBytesAreRead) {
  constexpr std::size_t two_gib = std::size_t{1} << 31U;
  constexpr std::byte first{};
  schema::ModelProto model;
  expect_error(error_if_any([&] { parse(model, Bytes(&first, two_gib)); }),
               {.code = Code::onnx_model_too_large, .hint = Hint::lower_threshold});
}

TEST(Messages, AreVisitedBeforeThoseInsideThem) {
  schema::ModelProto model;
  model.mutable_graph()->add_node()->add_attribute()->set_name("a");
  model.add_opset_import();
  Texts names;
  for_each_message(model,
                   [&](const google::protobuf::Message& each) { names.push_back(each.GetDescriptor()->name()); });
  EXPECT_THAT(names, ElementsAre("ModelProto", "GraphProto", "NodeProto", "AttributeProto", "OperatorSetIdProto"));
}

TEST(Messages, ThatTheVisitorClearsAreNotEntered) {
  schema::ModelProto model;
  model.mutable_graph()->add_node();
  Texts names;
  for_each_message(model, [&](const google::protobuf::Message& each) {
    names.push_back(each.GetDescriptor()->name());
    if (as<schema::GraphProto>(each) != nullptr) model.mutable_graph()->clear_node();
  });
  EXPECT_THAT(names, ElementsAre("ModelProto", "GraphProto"));
}

TEST(KeepOnly, AsksOnceForEachElementInOrderAndKeepsTheOrder) {
  schema::GraphProto graph;
  for (const char* const name : {"a", "b", "c", "d", "e"}) graph.add_node()->set_name(name);
  Texts asked;
  const std::uint64_t gone = keep_only(*graph.mutable_node(), [&](const schema::NodeProto& node) {
    asked.push_back(node.name());
    return node.name() != "a" && node.name() != "d";
  });
  EXPECT_EQ(gone, 2U);
  EXPECT_THAT(asked, ElementsAre("a", "b", "c", "d", "e"));
  Texts left;
  for (const auto& node : graph.node()) left.push_back(node.name());
  EXPECT_THAT(left, ElementsAre("b", "c", "e"));
}

TEST(LocationOf, IsTheFirstPairOfThatKey) {
  schema::TensorProto tensor;
  EXPECT_EQ(location_of(tensor), "");
  for (const auto& [key, value] : {std::pair("offset", "64"), std::pair("location", "w"), std::pair("location", "v")}) {
    auto* pair = tensor.add_external_data();
    pair->set_key(key);
    pair->set_value(value);
  }
  EXPECT_EQ(location_of(tensor), "w");
}

}  // namespace
}  // namespace onnxar::testing
