// Payloads of a model that is edited: given, shared, dropped, released.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "onnxar/archive.h"
#include "support/model_samples.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class EditingTest : public ::testing::Test {
 protected:
  [[nodiscard]] schema::TensorProto& add(const std::string& name, std::size_t size = 2000) {
    return add_initializer(model_, name, dtype::uint8, {static_cast<std::int64_t>(size)});
  }
  [[nodiscard]] Code code_of_saving(const Model& model) const {
    return error_of([&] { model.save(folder_ / "out", saved_as(Format::archive)); }).code();
  }
  [[nodiscard]] std::vector<std::string> saved_entries() const {
    model_.save(folder_ / "out", saved_as(Format::archive, over_existing));
    const Archive archive = Archive::open(folder_ / "out");
    std::vector<std::string> names;
    for (std::size_t i = 0; i + 1 < archive.size(); ++i) names.emplace_back(archive.entry(i).name);
    return names;
  }

  TempDir folder_;
  Model model_;
};

TEST_F(EditingTest, PayloadKeepsItsModeOfOwnership) {
  const auto shared = std::make_shared<const Blob>(pattern(2000, 2));
  const Blob callers = pattern(2000, 3);
  model_.set_payload(add("owned"), ByteSpan::own(pattern(2000, 1)));
  model_.set_payload(add("shared"), ByteSpan::borrow(*shared, shared));
  model_.set_payload(add("callers"), ByteSpan::borrow(callers));
  const auto span = [this](int i) -> const ByteSpan& { return model_.span(initializer(model_, i)); };
  EXPECT_TRUE(span(0).owned());
  EXPECT_EQ(span(1).owner(), shared);
  EXPECT_EQ(span(1).bytes().data(), shared->data());
  EXPECT_FALSE(span(2).owned());
  EXPECT_EQ(span(2).owner(), nullptr);
  EXPECT_EQ(span(2).bytes().data(), callers.data());
  EXPECT_EQ(copied(model_.payload(initializer(model_, 0))), pattern(2000, 1));
}

TEST_F(EditingTest, PayloadReplacesAllOtherDataOfTheTensor) {
  auto& tensor = add_initializer(model_, "w", dtype::int32, {300});
  tensor.add_int32_data(7);
  tensor.add_string_data("stray");
  tensor.set_raw_data("old");
  model_.set_payload(tensor, ByteSpan::own(pattern(1200, 1)));
  EXPECT_EQ(tensor.int32_data_size() + tensor.string_data_size(), 0);
  EXPECT_FALSE(tensor.has_raw_data());
  model_.set_payload(tensor, ByteSpan::own(pattern(1200, 2)));
  EXPECT_EQ(copied(model_.payload(tensor)), pattern(1200, 2));
  EXPECT_THAT(saved_entries(), ElementsAre("w"));
  const Archive archive = Archive::open(folder_ / "out");
  EXPECT_EQ(copy_of(archive.resolve("w")), pattern(1200, 2));
}

// The refusal changes nothing.
TEST_F(EditingTest, RefusesPayloadWithWrongSize) {
  auto& tensor = add_initializer(model_, "w", dtype::float32, {4});
  tensor.add_float_data(1.0F);
  EXPECT_EQ(error_of([&] { model_.set_payload(tensor, ByteSpan::own(pattern(15))); }).code(), Code::onnx_tensor_length);
  EXPECT_EQ(tensor.float_data_size(), 1);
}

TEST_F(EditingTest, TypedDataIsDecodedWhenAskedFor) {
  auto& tensor = add_initializer(model_, "w", dtype::int64, {2});
  tensor.add_int64_data(-1);
  tensor.add_int64_data(2);
  EXPECT_EQ(copied(model_.payload(tensor)), little_endian_bytes<std::int64_t>({-1, 2}));
}

TEST_F(EditingTest, LinksTravelWithTheirMessages) {
  Model model = Model::load(model_of({floats("a", 1024, 1), floats("b", 1024, 2), floats("small", 4)}).view());
  auto& graph = *model.proto().mutable_graph();
  graph.mutable_initializer()->SwapElements(0, 1);
  *graph.add_initializer() = graph.initializer(0);  // a copy shares its payload
  graph.mutable_initializer(3)->set_name("b_again");
  const ConvertReport report = model.save(folder_ / "m.onnxar");
  EXPECT_EQ(report.tensors_outside, 3U);
  EXPECT_EQ(report.payloads, 2U);
  const Archive archive = Archive::open(folder_ / "m.onnxar");
  EXPECT_EQ(archive.size(), 3U);
  EXPECT_EQ(copy_of(archive.resolve("b")), pattern(4096, 2));
}

TEST_F(EditingTest, StringsHaveNoPayload) {
  auto& tensor = add_initializer(model_, "s", dtype::string, {1});
  tensor.add_string_data("text");
  EXPECT_EQ(error_of([&] { model_.set_payload(tensor, ByteSpan::own(pattern(4))); }).code(),
            Code::onnx_external_string);
  EXPECT_EQ(error_of([&] { static_cast<void>(model_.payload(tensor)); }).code(), Code::onnx_tensor_strings);
  EXPECT_EQ(tensor.string_data(0), "text");
}

TEST_F(EditingTest, RefusesWhatCheckCallsAnError) {
  const auto code_of_payload = [this](const auto& tensor) {
    const Error error = error_of([&] { static_cast<void>(model_.payload(tensor)); });
    EXPECT_EQ(error.message().find("tensor \"w\": "), 0U) << error.message();
    return error.code();
  };
  auto& tensor = add_initializer(model_, "w", dtype::float32, {2});
  tensor.set_raw_data("12345678");
  EXPECT_EQ(model_.payload(tensor).size(), 8U);
  tensor.add_int32_data(7);
  EXPECT_EQ(code_of_payload(tensor), Code::onnx_tensor_data_beside);
  tensor.clear_raw_data();
  EXPECT_EQ(code_of_payload(tensor), Code::onnx_tensor_wrong_field);
  tensor.clear_int32_data();
  tensor.add_float_data(1);
  EXPECT_EQ(code_of_payload(tensor), Code::onnx_tensor_length);
  tensor.clear_data_type();
  EXPECT_EQ(code_of_payload(tensor), Code::onnx_tensor_no_type);
}

// It depends on the threshold whether data is linked, so linked and inline data are given under the same rules.
TEST_F(EditingTest, RefusesLinkedPayloadThatDoesNotFit) {
  auto& tensor = add_initializer(model_, "w", dtype::float32, {500});
  model_.set_payload(tensor, ByteSpan::own(pattern(2000)));
  tensor.set_dims(0, 499);
  const Error shorter = error_of([&] { static_cast<void>(model_.payload(tensor)); });
  EXPECT_EQ(shorter.code(), Code::onnx_tensor_length);
  EXPECT_EQ(shorter.message().find("tensor \"w\": its payload has 2000 bytes, but"), 0U) << shorter.message();
  tensor.clear_data_type();
  EXPECT_EQ(error_of([&] { static_cast<void>(model_.payload(tensor)); }).code(), Code::onnx_tensor_no_type);
  EXPECT_EQ(model_.span(tensor).size(), 2000U) << "the table has it as it is";
}

TEST_F(EditingTest, ATypeThatIsNotKnownTakesAnyLength) {
  auto& tensor = add_initializer(model_, "future", 99, {5});
  model_.set_payload(tensor, ByteSpan::own(pattern(1999)));
  EXPECT_EQ(model_.payload(tensor).size(), 1999U);
  EXPECT_THAT(saved_entries(), ElementsAre("future"));
}

TEST_F(EditingTest, ADroppedPayloadLeavesATensorWithoutData) {
  model_.set_payload(add("a"), ByteSpan::own(pattern(2000, 1)));
  *model_.proto().mutable_graph()->add_initializer() = initializer(model_, 0);
  initializer(model_, 1).set_name("b");
  model_.drop_payload(initializer(model_, 0));
  EXPECT_EQ(initializer(model_, 0).external_data_size(), 0);
  EXPECT_FALSE(initializer(model_, 0).has_data_location());
  EXPECT_EQ(copied(model_.payload(initializer(model_, 1))), pattern(2000, 1)) << "the other tensor keeps it";
  EXPECT_THAT(saved_entries(), ElementsAre("b"));
  const Model again = Model::load(folder_ / "out");
  EXPECT_EQ(initializer(again, 0).name(), "a");
  EXPECT_FALSE(initializer(again, 0).has_raw_data());
}

TEST_F(EditingTest, WhatNoMessageLinksToIsNotSaved) {
  model_.set_payload(add("a"), ByteSpan::own(pattern(2000, 1)));
  model_.set_payload(add("b"), ByteSpan::own(pattern(2000, 2)));
  model_.proto().mutable_graph()->mutable_initializer()->DeleteSubrange(0, 1);
  EXPECT_THAT(saved_entries(), ElementsAre("b"));
}

TEST_F(EditingTest, ReleasesOnlyUnusedPayloads) {
  const auto used = std::make_shared<const Blob>(pattern(2000, 1));
  const auto unused = std::make_shared<const Blob>(pattern(2000, 2));
  model_.set_payload(add("used"), ByteSpan::borrow(*used, used));
  model_.set_payload(add("unused"), ByteSpan::borrow(*unused, unused));
  auto& constant = *model_.proto().mutable_graph()->add_node()->add_attribute()->mutable_t();
  constant.set_data_type(static_cast<std::int32_t>(dtype::uint8));
  constant.add_dims(3);
  model_.set_payload(constant, ByteSpan::own(pattern(3)));
  EXPECT_EQ(model_.release_unused_payloads(), 0U);
  const schema::TensorProto kept = initializer(model_, 1);
  model_.proto().mutable_graph()->mutable_initializer()->RemoveLast();
  EXPECT_EQ(unused.use_count(), 2);  // the test and the payload, whose span and source are one object
  EXPECT_EQ(model_.release_unused_payloads(), 1U);
  EXPECT_EQ(unused.use_count(), 1);
  EXPECT_EQ(copied(model_.payload(initializer(model_, 0))), pattern(2000, 1));
  EXPECT_EQ(copied(model_.payload(constant)), pattern(3));
  EXPECT_EQ(model_.release_unused_payloads(), 0U);
  EXPECT_EQ(error_of([&] { static_cast<void>(model_.payload(kept)); }).code(), Code::onnx_external_marker);
  static_cast<void>(consolidate_tensors_to_buffer(model_, {}));
  EXPECT_THAT(saved_entries(), ElementsAre("used"));
}

TEST_F(EditingTest, RefusesMessageOfAnotherModel) {
  Model other;
  model_.set_payload(add("mine"), ByteSpan::own(pattern(2000)));
  *other.proto().mutable_graph()->add_initializer() = initializer(model_, 0);
  expect_error(error_of([&] { static_cast<void>(other.payload(initializer(other, 0))); }),
               {.code = Code::onnx_external_marker, .says = {"tensor \"mine\""}});
  expect_error(error_of([&] { other.save(folder_ / "out", saved_as(Format::archive)); }),
               {.code = Code::onnx_external_marker,
                .path = folder_ / "out",
                .says = {"tensor \"mine\" (graph.initializer[0])", "a different model"}});
  EXPECT_THAT(folder_.file_names(), IsEmpty());
  other.set_payload(initializer(other, 0), model_.payload(initializer(model_, 0)));  // as the error advises
  EXPECT_EQ(other.save(folder_ / "out", saved_as(Format::archive)).tensors_outside, 1U);
}

TEST_F(EditingTest, LinksNewPayloadLikeAWriter) {
  auto& tensor = add("w");
  tensor.set_raw_data("old");
  model_.set_payload(tensor, ByteSpan::own(pattern(2000)));
  std::vector<std::string> keys;
  for (const auto& pair : tensor.external_data()) keys.push_back(pair.key());
  EXPECT_THAT(keys, ElementsAre("location", "offset", "length"));
  EXPECT_EQ(tensor.external_data(1).value(), "0");
  EXPECT_EQ(tensor.external_data(2).value(), "2000");
  EXPECT_EQ(tensor.data_location(), schema::TensorProto::EXTERNAL);
  EXPECT_FALSE(tensor.has_raw_data());
}

TEST_F(EditingTest, RefusesLinkToAFileThatWasNotLoaded) {
  auto& tensor = add("linked");
  auto& location = *tensor.add_external_data();
  location.set_key("location");
  location.set_value("w.bin");
  tensor.set_data_location(schema::TensorProto::EXTERNAL);
  EXPECT_EQ(error_of([&] { static_cast<void>(model_.payload(tensor)); }).code(), Code::usage_not_loaded);
  EXPECT_EQ(code_of_saving(model_), Code::usage_not_loaded);
  EXPECT_THAT(folder_.file_names(), IsEmpty());
}

TEST_F(EditingTest, AMessageThatContradictsItsPayloadIsNotSaved) {
  schema::TensorProto& tensor = add("w");
  model_.set_payload(tensor, ByteSpan::own(pattern(2000)));
  const schema::TensorProto sound = tensor;
  tensor.set_dims(0, 1999);
  EXPECT_EQ(code_of_saving(model_), Code::onnx_tensor_length);
  tensor = sound;
  tensor.set_raw_data("data that would be lost");
  EXPECT_EQ(code_of_saving(model_), Code::onnx_external_data_beside);
  tensor = sound;
  tensor.set_data_type(static_cast<std::int32_t>(dtype::string));
  EXPECT_EQ(code_of_saving(model_), Code::onnx_external_string);
  EXPECT_THAT(folder_.file_names(), IsEmpty());
  tensor = sound;
  tensor.set_dims(0, 500);
  tensor.set_data_type(static_cast<std::int32_t>(dtype::float32));  // the same size: another view of the same bytes
  EXPECT_THAT(saved_entries(), ElementsAre("w"));
}

TEST_F(EditingTest, RawDataThatIsTooShortIsNotSaved) {
  add("w", 16).set_raw_data(std::string(15, '\0'));
  EXPECT_EQ(code_of_saving(model_), Code::onnx_tensor_length);
  EXPECT_THAT(folder_.file_names(), IsEmpty());
}

TEST_F(EditingTest, ASpanOfDataInTheMessageIsAMisuse) {
  auto& tensor = add("small", 3);
  tensor.set_raw_data("abc");
  expect_error(error_of([&] { static_cast<void>(model_.span(tensor)); }),
               {.code = Code::usage_argument, .says = {"\"small\""}});
  EXPECT_EQ(as_text(copied(model_.payload(tensor))), "abc");
}

TEST_F(EditingTest, AModelThatWasMovedKeepsItsPayloads) {
  model_.set_payload(add("w"), ByteSpan::own(pattern(2000)));
  const std::byte* before = model_.span(initializer(model_, 0)).bytes().data();
  Model moved = std::move(model_);
  EXPECT_EQ(moved.span(initializer(moved, 0)).bytes().data(), before);
  model_ = std::move(moved);
  EXPECT_EQ(model_.span(initializer(model_, 0)).bytes().data(), before);
  EXPECT_THAT(saved_entries(), ElementsAre("w"));
}

/// An archive in which model and graph share `w`, and only the graph uses `v`.
Built archive_of_two_graphs() {
  const Message graph = model_of({linked_floats("w", 300, "w"), linked_floats("v", 300, "v")});
  return archive_of(
      model_of({linked_floats("w", 300, "w")}),
      {zip_entry("w", pattern(1200, 1)), zip_entry("v", pattern(1200, 2)), zip_entry("b.onnx", graph.view())});
}

TEST(GraphsOfAModel, OneIsLoadedByItsName) {
  const TempDir folder;
  const Built archive = archive_of_two_graphs();
  const std::filesystem::path path = folder.write_file("a", archive.bytes);
  for (const std::string name : {"b", "b.onnx"}) {
    const Model one = Model::load(path, {.graph = name});
    ASSERT_EQ(one.proto().graph().initializer_size(), 2);
    EXPECT_EQ(copied(one.payload(one.proto().graph().initializer(1))), pattern(1200, 2));
    static_cast<void>(one.save(folder / name, saved_as(Format::archive)));
    const Archive saved = Archive::open(folder / name);
    EXPECT_FALSE(saved.find("b.onnx"));  // the other graphs are left alone
  }
  const Model from_memory = Model::load(archive.bytes, {.graph = "b"});
  EXPECT_EQ(from_memory.proto().graph().initializer_size(), 2);
  const Model whole = Model::load(path);
  EXPECT_EQ(whole.proto().graph().initializer_size(), 1);
  EXPECT_EQ(error_of([&] { Model::load(path, {.graph = "c"}); }).code(), Code::usage_no_such_entry);
  const auto plain = folder.write_file("plain.onnx", model_of({}).view());
  EXPECT_EQ(error_of([&] { Model::load(plain, {.graph = "b"}); }).code(), Code::usage_argument);
}

TEST(GraphsOfAModel, AreSavedWithTheirWeightsAfterARelease) {
  const TempDir folder;
  Model model = Model::load(folder.write_file("a", archive_of_two_graphs().bytes));
  model.proto().mutable_graph()->clear_initializer();
  EXPECT_EQ(model.release_unused_payloads(), 1U);  // the model's own link; those of the graph stay
  static_cast<void>(model.save(folder / "b", saved_as(Format::archive)));
  const Archive saved = Archive::open(folder / "b");
  EXPECT_EQ(copy_of(saved.resolve("w")), pattern(1200, 1));
  EXPECT_EQ(copy_of(saved.resolve("v")), pattern(1200, 2));
  EXPECT_TRUE(saved.find("b.onnx"));
}

}  // namespace
}  // namespace onnxar::testing
