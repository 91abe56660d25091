// The values of tensors that a walk finds, and the fields of any message.
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "reader/walking.h"

namespace onnxar::testing {
namespace {

template <typename T>
std::vector<T> values_of(const TensorBuilder& tensor, std::size_t most = 100) {
  std::vector<T> values(most);
  const auto visit = [&values](const onnxar_reader_walk*, const onnxar_reader_tensor& given) {
    EXPECT_EQ(given.kind, OAR_TYPED);
    EXPECT_EQ(given.data, nullptr);
    values.resize(onnxar_reader_copy_values(&given, values.data(), values.size()));
    EXPECT_LE(values.size(), given.values);
  };
  EXPECT_EQ(walk(archive_of_model(model_of({tensor})), visit), std::nullopt);
  return values;
}

TEST(ReaderValues, AreCopiedFromEachField) {
  const std::vector<float> floats = {1.5F, -0.0F, 3e38F};
  const std::vector<double> doubles = {1.5, -1e300, 0};
  const std::vector<std::int32_t> ints = {-1, 0, INT32_MAX, INT32_MIN};
  const std::vector<std::int64_t> longs = {-1, 0, INT64_MAX, INT64_MIN};
  const std::vector<std::uint64_t> wholes = {0, 1, UINT64_MAX};
  for (const Repeated form : {Repeated::packed, Repeated::unpacked}) {
    EXPECT_EQ(values_of<float>(tensor("t", dtype::float32, {3}).float_data(floats, form)), floats);
    EXPECT_EQ(values_of<double>(tensor("t", dtype::float64, {3}).double_data(doubles, form)), doubles);
    EXPECT_EQ(values_of<std::int32_t>(tensor("t", dtype::int32, {4}).int32_data(ints, form)), ints);
    EXPECT_EQ(values_of<std::int64_t>(tensor("t", dtype::int64, {4}).int64_data(longs, form)), longs);
    EXPECT_EQ(values_of<std::uint64_t>(tensor("t", dtype::uint64, {3}).uint64_data(wholes, form)), wholes);
    EXPECT_EQ(values_of<std::int64_t>(tensor("t", dtype::int64, {4}).int64_data(longs, form), 2),
              (std::vector<std::int64_t>{-1, 0}));
  }
}

TEST(ReaderValues, OfSeveralRunsAreJoined) {
  const TensorBuilder mixed =
      tensor("t", dtype::float32, {4})
          .field(4, Message().packed_fixed32(4, {std::bit_cast<std::uint32_t>(1.0F)}))
          .field(4, Message().fixed32(4, std::bit_cast<std::uint32_t>(2.0F)))
          .field(4, Message().packed_fixed32(4, {}))
          .field(4,
                 Message().packed_fixed32(4, {std::bit_cast<std::uint32_t>(3.0F), std::bit_cast<std::uint32_t>(4.0F)}));
  EXPECT_EQ(values_of<float>(mixed), (std::vector<float>{1, 2, 3, 4}));
}

TEST(ReaderValues, OfOtherTensorsAreNone) {
  const auto visit = [](const onnxar_reader_walk*, const onnxar_reader_tensor& tensor) {
    double value = 7;
    EXPECT_EQ(onnxar_reader_copy_values(&tensor, &value, 1), 0U);
    EXPECT_EQ(value, 7);
  };
  const TensorBuilder strings = tensor("s", dtype::string, {2}).string_data({"a", "b"});
  EXPECT_EQ(walk(archive_of_model(model_of({floats("i", 1), strings, linked_floats("l", 1, "w")})), visit),
            std::nullopt);
}

TEST(ReaderFields, WalkAMessage) {
  const Message message = model({.graph = graph({.name = "main", .nodes = {node("Add", {"a", "b"}, {"c"})}})});
  const auto texts = [](const void* at, std::size_t size, std::uint32_t number) {
    std::vector<std::string> found;
    onnxar_reader_field field = {};
    int more = 0;
    while ((more = onnxar_reader_next_field(&at, &size, &field)) > 0) {
      if (field.number == number) found.emplace_back(reinterpret_cast<const char*>(field.data), field.length);
    }
    EXPECT_EQ(more, 0);
    return found;
  };
  const std::vector<std::string> graphs = texts(message.view().data(), message.size(), model_field::graph);
  ASSERT_EQ(graphs.size(), 1U);
  EXPECT_EQ(texts(graphs[0].data(), graphs[0].size(), graph_field::name), (std::vector<std::string>{"main"}));
  const std::vector<std::string> nodes = texts(graphs[0].data(), graphs[0].size(), graph_field::node);
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_EQ(texts(nodes[0].data(), nodes[0].size(), node_field::input), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(texts(nodes[0].data(), nodes[0].size(), node_field::op_type), (std::vector<std::string>{"Add"}));
}

TEST(ReaderFields, KnowAllWireTypesAndRefuseTheRest) {
  const Blob bytes = Message().varint(1, 300).fixed64(2, 5).fixed32(3, 6).string(4, "four").take();
  const void* at = bytes.data();
  std::size_t size = bytes.size();
  onnxar_reader_field field = {};
  std::vector<std::uint64_t> values;
  while (onnxar_reader_next_field(&at, &size, &field) > 0) values.push_back(field.value);
  EXPECT_EQ(values, (std::vector<std::uint64_t>{300, 5, 6, 4}));
  for (const Blob& bad :
       {Message().claimed_length(1, 5).take(), Message().tag(1, 3).take(), Message().tag(0, 0).take(), blob("\xff")}) {
    at = bad.data();
    size = bad.size();
    EXPECT_EQ(onnxar_reader_next_field(&at, &size, &field), -1);
    EXPECT_EQ(at, bad.data());
  }
}

}  // namespace
}  // namespace onnxar::testing
