// Models as text, compared with what protobuf itself prints and parses.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>

#include <string>

#include "model/front_end.h"
#include "support/model_samples.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Message large_and_small() { return model_of({floats("large", 512, 1), floats("small", 3, 2), floats("more", 300, 3)}); }

std::string written_as_text(const std::filesystem::path& path, bool with_data, TextReport* report = nullptr) {
  std::string text;
  TextReport made = onnxar::dump(path, [&text](Bytes piece) { text += as_text(piece); }, {.with_data = with_data});
  if (report != nullptr) *report = std::move(made);
  return text;
}

class TextTest : public ::testing::Test {
 protected:
  TempDir folder_;
};

TEST_F(TextTest, WithDataItIsWhatProtobufPrints) {
  const Message model = large_and_small();
  std::string expected;
  ASSERT_TRUE(google::protobuf::TextFormat::PrintToString(parsed(model), &expected));
  TextReport report;
  EXPECT_EQ(written_as_text(folder_.write_file("m", model.view()), true, &report), expected);
  EXPECT_EQ(report.left_out, 0U);
  EXPECT_THAT(report.remarks, IsEmpty());
}

// Protobuf parses the rest.
TEST_F(TextTest, WithoutDataLargePayloadsBecomeComments) {
  TextReport report;
  const std::string text = written_as_text(folder_.write_file("m", large_and_small().view()), false, &report);
  EXPECT_EQ(report.left_out, 2U);
  EXPECT_THAT(text, HasSubstr("# raw_data: 2048 bytes, left out here\n"));
  schema::ModelProto proto;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto));
  EXPECT_FALSE(proto.graph().initializer(0).has_raw_data());
  EXPECT_EQ(proto.graph().initializer(1).raw_data().size(), 12U);
}

TEST_F(TextTest, ParsedTextIsTheModelAgain) {
  const Message model = large_and_small();
  const std::string text = written_as_text(folder_.write_file("m", model.view()), true);
  EXPECT_EQ(text_parser()(as_bytes(text)), model.view());
}

TEST_F(TextTest, SavedTextLoadsAsTheSameModel) {
  const Message model = large_and_small();
  Model loaded = Model::load(folder_.write_file("m", model.view()));
  loaded.set_payload(initializer(loaded, 0), ByteSpan::own(pattern(2048, 7)));
  loaded.save(folder_ / "t", saved_as(Format::textproto));
  const Model again = Model::load(folder_ / "t");
  EXPECT_EQ(copied(again.payload(initializer(again, 0))), pattern(2048, 7));
  EXPECT_EQ(copied(again.payload(initializer(again, 2))), pattern(1200, 3));
  const std::string text = folder_.read_text("t");
  const Model of_bytes = Model::load(as_bytes(text));
  EXPECT_EQ(copied(of_bytes.payload(initializer(of_bytes, 1))), pattern(12, 2));
}

TEST_F(TextTest, PrintsPayloadThatLooksLikeAMemoryLocation) {
  const std::string name = "#onnxar:1234567890123456789:0";
  const Message model =
      model_of({tensor("w", dtype::uint8, {static_cast<std::int64_t>(name.size())}).raw_data(blob(name))});
  EXPECT_THAT(written_as_text(folder_.write_file("m", model.view()), true), HasSubstr("raw_data: \"" + name + "\""));
}

TEST_F(TextTest, CoreSaysThatItReadsAndWritesNoText) {
  const std::string text = "graph { }";
  const auto path = folder_.write_file("t", text);
  EXPECT_EQ(error_of([&] { pack(path, folder_ / "out", saved_as(Format::archive)); }).code(),
            Code::usage_no_text_parser);
  const auto model = folder_.write_file("m", large_and_small().view());
  EXPECT_EQ(error_of([&] { pack_or_unpack(model, folder_ / "out", saved_as(Format::textproto)); }).code(),
            Code::usage_argument);
  EXPECT_THAT(folder_.file_names(), ElementsAre("m", "t"));
}

/// Text has one NaN. What a model loses by that is looked for in these fields.
TEST_F(TextTest, NumbersAreRealInFourFieldsOfTheSchema) {
  std::vector<std::string> real;
  const auto& file = *schema::ModelProto::descriptor()->file();
  for (int i = 0; i < file.message_type_count(); ++i) {
    for (int j = 0; j < file.message_type(i)->field_count(); ++j) {
      using Field = google::protobuf::FieldDescriptor;
      const Field& field = *file.message_type(i)->field(j);
      const bool is_real = field.cpp_type() == Field::CPPTYPE_FLOAT || field.cpp_type() == Field::CPPTYPE_DOUBLE;
      if (is_real) real.push_back(field.containing_type()->name() + "." + field.name());
    }
  }
  EXPECT_THAT(real, ElementsAre("AttributeProto.f", "AttributeProto.floats", "TensorProto.float_data",
                                "TensorProto.double_data"));
}

TEST_F(TextTest, ModelsWhoseDataWasNotLoadedAreNoText) {
  const auto path = folder_.write_file("m", model_of({linked_floats("w", 300, "w.bin")}).view());
  const Model model = Model::load(path, {.load_external_data = false});
  expect_error(error_of([&] { model.save(folder_ / "t", saved_as(Format::textproto)); }),
               {.code = Code::usage_not_loaded, .entry = "graph.initializer[0]", .hint = Hint::load_or_set_payload});
}

}  // namespace
}  // namespace onnxar::testing
