// TensorIndex iterates over tensors, and finds them by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "onnxar/tensors.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::StartsWith;

static_assert(std::ranges::contiguous_range<const TensorIndex>);
static_assert(std::ranges::sized_range<const TensorIndex> && std::ranges::common_range<const TensorIndex>);

class TensorIndexTest : public ::testing::Test {
 protected:
  const Archive& open(const Message& model) {
    const Built built = archive_of(model, {zip_entry("k", pattern(64))});
    archive_.emplace(Archive::open(folder_.write_file("a.onnxar", built.bytes)));
    return *archive_;
  }

  TempDir folder_;
  std::optional<Archive> archive_;
};

TEST_F(TensorIndexTest, RangeForVisitsNameTypeShapeAndData) {
  const Message half = tensor("half", dtype::float16, {2, 3}).external("k", 0, 12);
  std::vector<std::string> names;
  for (const StoredTensor& tensor : TensorIndex(open(model_of({half, floats("w", 4)})))) {
    names.push_back(tensor.name);
    if (tensor.name == "half") {
      EXPECT_EQ(tensor.type, DataType::float16);
      EXPECT_THAT(tensor.dims, ElementsAre(2, 3));
      const ByteSpan data = tensor_data(*archive_, tensor);
      EXPECT_EQ(data.bytes().data(), archive_->resolve("k").data());
      EXPECT_EQ(data.size(), 12U);
      EXPECT_EQ(tensor.site, "graph.initializer[0]");
      EXPECT_EQ(tensor.name, "half");
    } else {
      const ByteSpan data = tensor_data(*archive_, tensor);
      EXPECT_EQ(copy_of(data.bytes()), pattern(16));
    }
  }
  EXPECT_THAT(names, ElementsAre("half", "w"));
}

TEST_F(TensorIndexTest, AlgorithmsTakeIt) {
  const TensorIndex index(open(model_of({floats("b", 1), floats("c", 2), floats("a", 3)})));
  const auto found = std::ranges::find(index, "c", &StoredTensor::name);
  ASSERT_NE(found, index.end());
  EXPECT_EQ(found - index.begin(), 1);
  EXPECT_EQ(index.size(), 3U);
  EXPECT_EQ(index[2].name, "a");
}

TEST_F(TensorIndexTest, ATensorIsFoundByItsName) {
  const TensorIndex index(open(model_of({floats("a", 1), floats("b", 2)})));
  const StoredTensor* found = index.find("b");
  EXPECT_EQ(found, &index[1]);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->site, "graph.initializer[1]");
  EXPECT_FALSE(index.find("c"));
}

TEST_F(TensorIndexTest, AnInitializerComesBeforeOtherTensorsOfItsName) {
  const Message proto = model({.graph = graph({.nodes = {constant("y", floats("w", 1)), constant("z", floats("w", 2))},
                                               .initializers = {floats("v", 3), floats("w", 4)}})});
  const TensorIndex index(open(proto));
  EXPECT_EQ(index.find("w")->site, "graph.initializer[1]");
}

TEST_F(TensorIndexTest, RefusesNameOfTwoInitializers) {
  const Message proto = model({.graph = graph({.nodes = {constant("y", floats("w", 1))},
                                               .initializers = {floats("w", 2), floats("v", 3), floats("w", 4)}})});
  const TensorIndex index(open(proto));
  const Error error = error_of([&] { return index.find("w"); });
  EXPECT_EQ(error.code(), Code::usage_ambiguous_tensor);
  EXPECT_EQ(error.message(),
            "2 tensors match \"w\"; list the tensors, and choose one by its site: graph.initializer[0], "
            "graph.initializer[2]");
  EXPECT_EQ(error.path(), archive_->path());
  EXPECT_EQ(index.find("v")->site, "graph.initializer[1]");
}

TEST_F(TensorIndexTest, ListsTwentySitesOfAmbiguousName) {
  const auto message = [this](std::size_t count) {
    const TensorIndex index(open(model_of(Messages(count, floats("w", 1)))));
    return error_of([&] { return index.find("w"); }).message();
  };
  EXPECT_THAT(message(20), AllOf(StartsWith("20 tensors match "), EndsWith(", graph.initializer[19]")));
  EXPECT_THAT(message(21), AllOf(StartsWith("21 tensors match "), EndsWith(", graph.initializer[19], ...")));
}

TEST_F(TensorIndexTest, RefusesNameOfTwoAttributes) {
  const Message proto = model({.graph = graph({.nodes = {constant("y", floats("w", 1)), constant("z", floats("w", 2))},
                                               .initializers = {floats("v", 3)}})});
  const TensorIndex index(open(proto));
  EXPECT_EQ(code_of([&] { return index.find("w"); }), Code::usage_ambiguous_tensor);
}

TEST_F(TensorIndexTest, FindsNoEntryAndNoSite) {
  const Message proto = model_of({tensor("w", dtype::float32, {4}).external("k", 0, 16)});
  const TensorIndex index(open(proto));
  EXPECT_FALSE(index.find("k"));
  EXPECT_FALSE(index.find("graph.initializer[0]"));
}

TEST_F(TensorIndexTest, TensorsWithoutANameAreInTheRangeAndNotFound) {
  const TensorIndex index(open(model_of({floats("", 1)})));
  EXPECT_EQ(index.size(), 1U);
  EXPECT_FALSE(index.find(""));
}

TEST_F(TensorIndexTest, MovesWithItsTensors) {
  TensorIndex first(open(model_of({floats("w", 1)})));
  const TensorIndex index = std::move(first);
  EXPECT_EQ(index.find("w")->name, "w");
}

}  // namespace
}  // namespace onnxar::testing
