// Nodes in one line: the text of each kind of attribute.
#include <gmock/gmock.h>

#include <limits>
#include <string>

#include "inspect/graph_summary.h"

namespace onnxar::testing {
namespace {

using Attribute = schema::AttributeProto;

/// The text of the only attribute of a node.
std::string attribute_text(const Attribute& attribute) {
  schema::NodeProto node;
  *node.add_attribute() = attribute;
  const std::string root = "graph";
  return summary_of(node, Site(root, {}, 0)).attributes.at(0).second;
}

Attribute of_floats(std::initializer_list<float> values) {
  Attribute attribute;
  attribute.set_type(Attribute::FLOATS);
  for (const float value : values) attribute.add_floats(value);
  return attribute;
}

TEST(NodeSummary, FloatsHaveTheFewestDigitsThatIdentifyThem) {
  EXPECT_EQ(attribute_text(of_floats({0.1F, 1.0F, 1e-5F, 16777216.0F})), "[0.1,1,1e-05,16777216]");
  EXPECT_EQ(attribute_text(of_floats({std::numeric_limits<float>::infinity()})), "[inf]");
  EXPECT_EQ(attribute_text(of_floats({})), "[]");
}

TEST(NodeSummary, LongListsAndTextsAreCut) {
  Attribute list;
  for (int i = 0; i < 20; ++i) list.add_ints(i);
  EXPECT_EQ(attribute_text(list), "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15, ... 20 in all]");
  Attribute text;
  text.set_s(std::string(61, 's'));
  EXPECT_EQ(attribute_text(text), "\"" + std::string(60, 's') + "...\"");
}

TEST(NodeSummary, TensorsAndGraphsAreNamedByTheirKind) {
  Attribute tensor;
  tensor.mutable_t()->set_data_type(1);
  tensor.mutable_t()->add_dims(2);
  tensor.mutable_t()->add_dims(3);
  EXPECT_EQ(attribute_text(tensor), "FLOAT[2,3]");
  Attribute graphs;
  graphs.add_graphs()->set_name("a");
  graphs.add_graphs()->set_name("b");
  EXPECT_EQ(attribute_text(graphs), "[graph \"a\",graph \"b\"]");
}

TEST(NodeSummary, AnAttributeOfTheCallIsAReference) {
  Attribute attribute;
  attribute.set_ref_attr_name("axis");
  attribute.set_i(7);
  EXPECT_EQ(attribute_text(attribute), "@axis");
}

TEST(NodeSummary, AValueCountsWithoutItsType) {
  Attribute attribute;
  attribute.set_i(-7);
  EXPECT_EQ(attribute_text(attribute), "-7");
  EXPECT_EQ(attribute_text(Attribute()), "-");
}

}  // namespace
}  // namespace onnxar::testing
