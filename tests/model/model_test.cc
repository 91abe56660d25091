#include "onnxar/model/model.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "onnxar/archive.h"
#include "support/model_samples.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar {
namespace {

using testing::Blob;
using testing::copied;
using ::testing::ElementsAre;
using testing::pattern;
using ::testing::SizeIs;
using testing::TempDir;
using testing::tensor;

constexpr std::size_t large = 4096;

/// Two large initializers, a small one, and a large constant in a node.
Blob sample_model() {
  using testing::dtype::float32;
  return testing::model(
             {.graph = testing::graph(
                  {.nodes = {testing::constant("c", tensor("c", float32, {1024}).raw_data(pattern(large, 3)))},
                   .initializers = {tensor("a", float32, {1024}).raw_data(pattern(large, 1)),
                                    tensor("b", float32, {1024}).raw_data(pattern(large, 2)),
                                    tensor("small", float32, {4}).raw_data(pattern(16, 4))}})})
      .take();
}

schema::TensorProto& initializer(Model& model, int index) {
  return *model.proto().mutable_graph()->mutable_initializer(index);
}

TEST(ModelTest, ALoadedModelShowsTheGraphAndGivesThePayloadsWithoutTheMessagesHoldingThem) {
  const TempDir folder;
  Model model = Model::load(folder.write_file("m.onnx", sample_model()));
  ASSERT_THAT(model.proto().graph().initializer(), SizeIs(3));
  EXPECT_EQ(initializer(model, 0).name(), "a");
  EXPECT_FALSE(initializer(model, 0).has_raw_data());
  EXPECT_EQ(copied(model.payload(initializer(model, 0))), pattern(large, 1));
  EXPECT_EQ(initializer(model, 2).raw_data().size(), 16U);
  EXPECT_EQ(copied(model.payload(initializer(model, 2))), pattern(16, 4));
}

TEST(ModelTest, PayloadsOfAFileAreViewsOfItsMappingAndOutliveTheModel) {
  const TempDir folder;
  const auto path = folder.write_file("m.onnx", sample_model());
  std::optional<Model> model = Model::load(path);
  const ByteSpan payload = model->payload(initializer(*model, 1));
  EXPECT_FALSE(payload.owned());
  ASSERT_NE(payload.owner(), nullptr);
  model.reset();
  EXPECT_EQ(copied(payload), pattern(large, 2));
}

TEST(ModelTest, SavingWhatWasLoadedGivesTheSameTensorsInEveryForm) {
  const TempDir folder;
  const Model model = Model::load(folder.write_file("m.onnx", sample_model()));
  SaveOptions options;
  model.save(folder / "m.onnxar", options);
  options.format = Format::onnx_external;
  options.data_file = "weights";
  model.save(folder / "external.onnx", options);
  options.format = Format::onnx_inline;
  model.save(folder / "inline.onnx", options);
  for (const char* name : {"m.onnxar", "external.onnx", "inline.onnx"}) {
    Model again = Model::load(folder / name);
    std::vector<std::string> names;
    for_each_tensor(again.proto(), [&](schema::TensorProto& t) { names.push_back(t.name()); });
    EXPECT_THAT(names, ElementsAre("c", "a", "b", "small")) << name;
    EXPECT_EQ(copied(again.payload(initializer(again, 0))), pattern(large, 1)) << name;
    EXPECT_EQ(copied(again.payload(initializer(again, 2))), pattern(16, 4)) << name;
  }
}

TEST(ModelTest, AnEditedGraphIsSavedWithThePayloadsThatItsLinksName) {
  const TempDir folder;
  Model model = Model::load(folder.write_file("m.onnx", sample_model()));
  auto& graph = *model.proto().mutable_graph();
  graph.mutable_initializer()->SwapElements(0, 1);  // links travel with the messages
  *graph.add_initializer() = graph.initializer(0);  // a copy shares its payload
  graph.mutable_initializer(3)->set_name("b_again");
  graph.mutable_node()->Clear();
  const ConvertReport report = model.save(folder / "m.onnxar");
  EXPECT_EQ(report.tensors_outside, 3U);
  EXPECT_EQ(report.payloads, 2U);
  const Archive archive = Archive::open(folder / "m.onnxar");
  EXPECT_EQ(archive.size(), 3U);
  const Bytes b = archive.resolve("b");
  EXPECT_EQ(Blob(b.begin(), b.end()), pattern(large, 2));
}

TEST(ModelTest, AModelMadeInMemoryTakesPayloadsAndIsSaved) {
  const TempDir folder;
  Model model;
  model.proto().set_ir_version(8);
  auto* added = model.proto().mutable_graph()->add_initializer();
  added->set_name("w");
  added->set_data_type(1);
  added->add_dims(1024);
  model.set_payload(*added, ByteSpan::own(pattern(large, 7)));
  EXPECT_EQ(copied(model.payload(*added)), pattern(large, 7));
  model.save(folder / "m.onnxar");
  const Archive archive = Archive::open(folder / "m.onnxar");
  const Bytes w = archive.resolve("w");
  EXPECT_EQ(Blob(w.begin(), w.end()), pattern(large, 7));
}

TEST(ModelTest, TypedDataIsDecodedWhenAskedFor) {
  Model model;
  auto* added = model.proto().mutable_graph()->add_initializer();
  added->set_data_type(7);
  added->add_dims(2);
  added->add_int64_data(-1);
  added->add_int64_data(2);
  const ByteSpan payload = model.payload(*added);
  EXPECT_EQ(testing::copy_of(payload.bytes()), testing::little_endian_bytes<std::int64_t>({-1, 2}));
}

template <typename Action>
Code code_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return Code::usage_argument;
}

TEST(ModelTest, APayloadOfTheWrongSizeIsRefusedAndChangesNothing) {
  Model model;
  auto* added = model.proto().mutable_graph()->add_initializer();
  added->set_data_type(1);
  added->add_dims(4);
  added->add_float_data(1.0F);
  EXPECT_EQ(code_of([&] { model.set_payload(*added, ByteSpan::own(pattern(15))); }), Code::onnx_tensor_length);
  EXPECT_EQ(added->float_data_size(), 1);
}

TEST(ModelTest, RawDataThatIsTooShortIsRefusedInLoadingAndInSaving) {
  const TempDir folder;
  const auto short_one = tensor("w", testing::dtype::float32, {4}).raw_data(pattern(15));
  const auto path =
      folder.write_file("m.onnx", testing::model({.graph = testing::graph({.initializers = {short_one}})}).take());
  EXPECT_EQ(code_of([&] { static_cast<void>(Model::load(path)); }), Code::onnx_tensor_length);
  Model model;
  auto* added = model.proto().mutable_graph()->add_initializer();
  added->set_data_type(1);
  added->add_dims(4);
  added->set_raw_data(std::string(15, '\0'));
  EXPECT_EQ(code_of([&] { model.save(folder / "x.onnx"); }), Code::onnx_tensor_length);
  EXPECT_THAT(folder.file_names(), ElementsAre("m.onnx"));
}

TEST(ModelTest, AMessageOfAnotherModelIsRefusedOnReadingAndOnSavingAndNothingIsPublished) {
  const TempDir folder;
  Model one = Model::load(folder.write_file("m.onnx", sample_model()));
  Model other;
  *other.proto().mutable_graph()->add_initializer() = initializer(one, 0);
  EXPECT_EQ(code_of([&] { static_cast<void>(other.payload(initializer(other, 0))); }), Code::onnx_external_marker);
  EXPECT_EQ(code_of([&] { other.save(folder / "x.onnxar"); }), Code::onnx_external_marker);
  EXPECT_THAT(folder.file_names(), ElementsAre("m.onnx"));
}

TEST(ModelTest, AModelThatProtobufCannotParseIsRefused) {
  const TempDir folder;
  // The last input exceeds the message: the walk over tensors skips inputs, but protobuf parses them.
  testing::Message damaged;
  damaged.claimed_length(1, 100);
  testing::Message graph;
  graph.message(11, damaged);
  const auto path = folder.write_file("m.onnx", testing::Message().message(testing::model_field::graph, graph).take());
  EXPECT_EQ(code_of([&] { static_cast<void>(Model::load(path)); }), Code::onnx_model_invalid);
}

}  // namespace
}  // namespace onnxar
