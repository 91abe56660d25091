// `tensors` and `tensor_data` give the tensors of an archive's model and their bytes without protobuf.
#include "onnxar/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;

class StoredTensorsTest : public ::testing::Test {
 protected:
  const Archive& open(const Built& archive) {
    archive_.emplace(Archive::open(folder_.write_file("a.onnxar", archive.bytes)));
    return *archive_;
  }

  /// The only tensor of the model.
  StoredTensor only(const Built& archive) { return tensors(open(archive)).at(0); }
  [[nodiscard]] ByteSpan data(const StoredTensor& tensor) const { return tensor_data(*archive_, tensor); }

  /// What the data of a model's only tensor is refused for, where the tensor begins.
  Code refused(const Message& tensor) {
    const Built archive = archive_of(model_of({tensor}), {zip_entry("k", pattern(8))});
    const StoredTensor stored = only(archive);
    const Error error = error_of([&] { static_cast<void>(data(stored)); });
    EXPECT_EQ(error.offset(), place_in(archive.bytes, tensor)) << error.what();
    return error.code();
  }

  TempDir folder_;
  std::optional<Archive> archive_;
};

TEST_F(StoredTensorsTest, ListsTensorsInTheOrderOfTheModel) {
  const Message t = tensor("first", dtype::float16, {2, 3}).external("k", 0, 12);
  const Message proto =
      model({.graph = graph({.nodes = {constant("y", floats("second", 4))}, .initializers = {t, floats("third", 1)}})});
  const std::vector<StoredTensor> found = tensors(open(archive_of(proto, {zip_entry("k", pattern(12))})));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].name, "second");
  EXPECT_EQ(found[0].site, "graph.node[0].attr.value");
  EXPECT_EQ(found[1].name, "first");
  EXPECT_EQ(found[1].type, DataType::float16);
  EXPECT_THAT(found[1].dims, ElementsAre(2, 3));
  EXPECT_EQ(found[2].site, "graph.initializer[1]");
}

TEST_F(StoredTensorsTest, DataInAnEntryIsAViewOfItWithAShare) {
  const StoredTensor tensor =
      only(archive_of(model_of({linked_floats("w", 4, "k", 16)}), {zip_entry("k", pattern(64))}));
  const ByteSpan span = data(tensor);
  EXPECT_FALSE(span.owned());
  EXPECT_EQ(span.owner(), archive_->owner());
  EXPECT_EQ(span.bytes().data(), archive_->resolve("k", 16, 16).data());
  EXPECT_EQ(span.size(), 16U);
}

TEST_F(StoredTensorsTest, TheEntryOfATensorIsTheOneThatItsLinkNames) {
  const Archive& archive = open(archive_of(model_of({linked_floats("w", 4, "k", 16), floats("inside", 4)}),
                                           {zip_entry("j", pattern(64)), zip_entry("k", pattern(64))}));
  const std::vector<StoredTensor> found = tensors(archive);
  EXPECT_EQ(tensor_entry(archive, found.at(0)).value().name, "k");
  EXPECT_EQ(tensor_entry(archive, found.at(1)), std::nullopt);
}

TEST_F(StoredTensorsTest, TheEntryOfATensorIsRefusedAsItsDataIs) {
  const StoredTensor none = only(archive_of(model_of({linked_floats("w", 2, "none")})));
  EXPECT_EQ(error_of([&] { static_cast<void>(tensor_entry(*archive_, none)); }).code(), Code::onnx_external_missing);
  open(archive_of(model_of({floats("v", 8)})));
  EXPECT_EQ(error_of([&] { static_cast<void>(tensor_entry(*archive_, none)); }).code(), Code::usage_foreign_entry);
}

/// A model whose raw data begins `at` bytes after the model's first byte. A doc_string fills the space before it.
Built with_raw_data_at(std::size_t at, const Blob& bytes) {
  for (std::size_t room = 0; room < 2 * at; ++room) {
    const Message each = tensor("w", dtype::float32, {static_cast<std::int64_t>(bytes.size() / 4)}).raw_data(bytes);
    const Message proto = model({.producer_name = std::string(room, 'x'), .graph = graph({.initializers = {each}})});
    const auto found = std::search(proto.view().begin(), proto.view().end(), bytes.begin(), bytes.end());
    if (static_cast<std::size_t>(found - proto.view().begin()) == at) return archive_of(proto);
  }
  throw std::out_of_range("there is no such place");
}

TEST_F(StoredTensorsTest, RawDataInTheModelIsAViewOfItWhereItIsAligned) {
  const StoredTensor tensor = only(with_raw_data_at(128, pattern(64)));
  const ByteSpan span = data(tensor);
  EXPECT_EQ(span.bytes().data(), archive_->model().data() + 128);
  EXPECT_EQ(span.owner(), archive_->owner());
  EXPECT_GE(span.alignment(), 64U);
}

// Aligned vector loads from an odd address end the process.
TEST_F(StoredTensorsTest, MisalignedRawDataIsCopiedAlignedAndKept) {
  for (std::size_t at = 97; at < 128; ++at) {
    const StoredTensor tensor = only(with_raw_data_at(at, pattern(64)));
    const ByteSpan span = data(tensor);
    EXPECT_GE(span.alignment(), 64U) << at;
    EXPECT_TRUE(std::ranges::equal(span.bytes(), pattern(64)));
    const ByteSpan again = data(tensor);
    EXPECT_EQ(again.bytes().data(), span.bytes().data()) << "it is copied once";
  }
}

TEST_F(StoredTensorsTest, AlignedCopyOutlivesTheArchive) {
  const ByteSpan span = data(only(with_raw_data_at(97, pattern(64))));
  archive_.reset();
  EXPECT_TRUE(std::ranges::equal(span.bytes(), pattern(64)));
}

// One byte on the wire may decode to eight, so decoded data can be many times as large as the model.
TEST_F(StoredTensorsTest, ArchiveKeepsNoMoreCopiesThanItsModelIsLong) {
  const Message ones = tensor("w", dtype::float64, {1}).raw_data(pattern(8));
  const Message many = tensor("many", dtype::int64, {4000}).int64_data(std::vector<std::int64_t>(4000, 1));
  const std::vector<StoredTensor> found = tensors(open(archive_of(model_of({ones, many}))));
  const ByteSpan span = data(found[1]);
  EXPECT_EQ(span.size(), 32000U);
  EXPECT_GE(span.alignment(), 64U);
  EXPECT_EQ(span.owner().use_count(), 1) << "the span alone keeps it";
  const ByteSpan kept = data(found[0]);
  EXPECT_EQ(kept.owner().use_count(), 2) << "the archive keeps it";
}

TEST_F(StoredTensorsTest, TensorOfALaterTypeMayBeEmpty) {
  EXPECT_EQ(data(only(archive_of(model_of({tensor("w", 99, {0})})))).size(), 0U);
}

TEST_F(StoredTensorsTest, StringsBesideEmptyRawDataAreRefused) {
  const Message strings = tensor("s", dtype::string, {1}).string_data({"a"}).raw_data({});
  const StoredTensor found = only(archive_of(model_of({strings})));
  EXPECT_EQ(error_of([&] { static_cast<void>(data(found)); }).code(), Code::onnx_tensor_strings);
}

TEST_F(StoredTensorsTest, TensorOfAnotherArchiveIsRefused) {
  const StoredTensor theirs = only(archive_of(model_of({floats("first", 400), floats("w", 4)})));
  const StoredTensor second = tensors(*archive_).at(1);
  const auto at_one_place = [](std::string_view name, const Dims& dims, std::uint64_t type = dtype::float32) {
    return archive_of(model_of({tensor(name, type, dims).raw_data(pattern(20))}));
  };
  const StoredTensor other_type = only(at_one_place("w", {5, 1}, dtype::int32));
  const StoredTensor other_name = only(at_one_place("v", {5, 1}));
  const StoredTensor other_shape = only(at_one_place("w", {1, 5}));
  static_cast<void>(only(at_one_place("w", {5, 1})));
  StoredTensor huge = tensors(*archive_).at(0);
  huge.offset = ~std::uint64_t{0} - 3;
  StoredTensor torn = tensors(*archive_).at(0);
  ++torn.offset;  // the value 5 of a field, which is no tag
  --torn.size;
  for (const StoredTensor& each : {theirs, second, other_type, other_name, other_shape, huge, torn}) {
    const Error error = error_of([&] { static_cast<void>(data(each)); });
    EXPECT_EQ(error.code(), Code::usage_foreign_entry) << error.what();
  }
}

TEST_F(StoredTensorsTest, RawDataLongerThanTheShapeIsCutToIt) {
  const Message long_raw = tensor("w", dtype::float32, {2}).raw_data(pattern(12));
  const StoredTensor tensor = only(archive_of(model_of({long_raw})));
  EXPECT_EQ(data(tensor).size(), 8U);
}

TEST_F(StoredTensorsTest, TypedDataIsDecoded) {
  const Message typed = tensor("w", dtype::int8, {3}).int32_data({1, 2, 3});
  const StoredTensor tensor = only(archive_of(model_of({typed})));
  const ByteSpan span = data(tensor);
  EXPECT_GE(span.alignment(), 64U);
  EXPECT_THAT(span.bytes(), ElementsAre(std::byte{1}, std::byte{2}, std::byte{3}));
}

TEST_F(StoredTensorsTest, StringsHaveNoRawBytes) {
  const Message strings = tensor("s", dtype::string, {1}).string_data({"words"});
  const StoredTensor tensor = only(archive_of(model_of({strings})));
  expect_error(error_of([&] { static_cast<void>(data(tensor)); }), {.code = Code::onnx_tensor_strings,
                                                                    .entry = "__MODEL_PROTO",
                                                                    .path = folder_ / "a.onnxar",
                                                                    .says = {"tensor \"s\" (graph.initializer[0])"}});
}

TEST_F(StoredTensorsTest, RefusesBrokenLinksAtTheirOffset) {
  EXPECT_EQ(refused(linked_floats("w", 2, "none")), Code::onnx_external_missing);
  EXPECT_EQ(refused(linked_floats("w", 2, "k", 4)), Code::onnx_external_out_of_range);
  EXPECT_EQ(refused(tensor("w", dtype::float32, {3}).external("k", 0, 8)), Code::onnx_tensor_length);
  EXPECT_EQ(refused(tensor("w", dtype::float32, {3}).raw_data(pattern(8))), Code::onnx_tensor_length);
}

TEST_F(StoredTensorsTest, RefusesWhatCheckCallsAnError) {
  const auto w = [] { return tensor("w", dtype::float32, {2}); };
  EXPECT_EQ(refused(w().float_data({1})), Code::onnx_tensor_length);
  EXPECT_EQ(refused(w().raw_data(pattern(8)).float_data({1, 2})), Code::onnx_tensor_data_beside);
  EXPECT_EQ(refused(w().int32_data({1, 2})), Code::onnx_tensor_wrong_field);
  EXPECT_EQ(refused(tensor("w", dtype::string, {2}).raw_data(pattern(8))), Code::onnx_tensor_wrong_field);
  EXPECT_EQ(refused(tensor("w", dtype::float32, {0}).raw_data(pattern(8))), Code::onnx_tensor_length);
  EXPECT_EQ(refused(tensor("w", dtype::undefined, {2}).raw_data(pattern(8))), Code::onnx_tensor_no_type);
  EXPECT_EQ(refused(tensor("w", dtype::undefined, {2}).external("k")), Code::onnx_tensor_no_type);
}

}  // namespace
}  // namespace onnxar::testing
