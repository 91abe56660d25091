// Which kind of file is recognised by its first bytes.
#include "archive/file_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

using ::testing::StartsWith;

/// The kind in words, which begin so; empty if none is recognised.
std::string kind_of(const Blob& file) {
  const Advice advice = advice_on_kind(file);
  EXPECT_EQ(advice.hint == Hint::none, advice.value.empty()) << advice.value;
  return advice.value.substr(0, advice.value.find_first_of(",;("));
}

std::string kind_of_text(std::string_view text) { return kind_of(blob(text)); }

constexpr std::string_view only_text = "text";

TEST(FileKind, IsThatOfTheFirstBytes) {
  EXPECT_EQ(kind_of_text("\x93NUMPY\1"), "a NumPy array ");
  EXPECT_EQ(kind_of_text(std::string(257, '\0') + "ustar"), "a tar archive");
  EXPECT_EQ(kind_of_text(std::string(257, '\0') + "usta"), "");
  EXPECT_EQ(kind_of_text("\1\2\3"), "");
}

TEST(FileKind, OfTextIsFoundAfterWhiteSpaceAndAByteOrderMark) {
  for (const std::string before : {"", "\n", "\xef\xbb\xbf", "\xef\xbb\xbf \t\r\n"}) {
    EXPECT_EQ(kind_of_text(before + "<!DOCTYPE html>"), "a web page ") << before;
    EXPECT_EQ(kind_of_text(before + "<?xml version=\"1.0\"?>"), "XML") << before;
    EXPECT_EQ(kind_of_text(before + R"({"a": 1})"), "JSON") << before;
  }
  EXPECT_EQ(kind_of_text(" \n"), only_text);
  EXPECT_EQ(kind_of_text("notes ~"), only_text);
  EXPECT_EQ(kind_of_text("notes \x7f"), "");
}

TEST(FileKind, JsonIsAnObjectThatBeginsWithAString) {
  EXPECT_EQ(kind_of_text("{ \t\r\n\"a\": 1}"), "JSON");
  EXPECT_EQ(kind_of_text("{}"), only_text);
  EXPECT_EQ(kind_of_text("{a\"b\"}"), only_text);
  EXPECT_EQ(kind_of_text("a {\"b\"}"), only_text);
}

TEST(FileKind, SafetensorsBeginWithTheLengthOfAnObject) {
  const auto is_recognised = [](char length, std::string_view rest) {
    return kind_of_text(std::string(1, length) + std::string(7, '\0') + std::string(rest)) == "a safetensors file";
  };
  EXPECT_TRUE(is_recognised(2, "{}"));
  EXPECT_TRUE(is_recognised(2, "{} and data"));
  EXPECT_FALSE(is_recognised(3, "{}"));
  EXPECT_FALSE(is_recognised(1, "{}"));
  EXPECT_FALSE(is_recognised(2, "[]"));
  EXPECT_FALSE(is_recognised(0, ""));
}

TEST(FileKind, SafetensorsHeaderHasAHundredMillionBytes) {
  const TempDir folder;
  const auto is_recognised = [&folder](std::uint64_t length) {
    Blob begin(8);
    put_u64(begin, 0, length);
    begin.push_back(std::byte{'{'});
    const auto path = folder.write_file("a", begin);
    std::filesystem::resize_file(path, 100'000'100);  // sparse
    const auto mapping = base::MappedFile::open(path);
    return safetensors_header(mapping.bytes()).has_value();
  };
  EXPECT_TRUE(is_recognised(100'000'000));
  EXPECT_FALSE(is_recognised(100'000'001));
}

TEST(FileKind, AModelMayBeTextOrAMessage) {
  for (const Blob& file : {blob("ir_version: 8"), blob("graph {}"), model({}).view()}) {
    EXPECT_EQ(advice_on_kind(file).hint, Hint::kind_plain_model);
  }
}

TEST(FileKind, EmptyFileIsToBeMadeAnew) { EXPECT_EQ(advice_on_kind({}).hint, Hint::make_anew); }

TEST(FileKind, BinaryWithTextOfModelIsNoModel) { EXPECT_EQ(kind_of_text("\1\2 graph {"), ""); }

TEST(FileKind, GraphFieldOfAnotherWireTypeIsNoModel) {
  EXPECT_EQ(advice_on_kind(Message().varint(model_field::graph, 1).view()).hint, Hint::none);
}

TEST(FileKind, OfZipFollowsFromItsEntries) {
  const auto kind_of_zip = [](std::string_view name) {
    return kind_of(ZipBuilder{.entries = {zip_entry("first", {}), zip_entry(name, blob("x"))}}.build());
  };
  EXPECT_EQ(kind_of_zip("[Content_Types].xml"), "a document of Office");
  EXPECT_EQ(kind_of_zip("META-INF/MANIFEST.MF"), "a Java archive ");
  EXPECT_EQ(kind_of_zip("model.weights.h5"), "a Keras model");
  EXPECT_EQ(kind_of_zip("notes.txt"), "a zip file without an ONNX model");
  EXPECT_EQ(kind_of(ZipBuilder{.entries = {zip_entry("m/data.pkl", {})}}.build()), "a PyTorch checkpoint");
  const std::vector<ZipEntry> two_models = {zip_entry("a.onnx", {}), zip_entry("b.onnx", {})};
  EXPECT_EQ(kind_of(ZipBuilder{.entries = two_models}.build()), "");
}

TEST(FileKind, OfZipWithModelIsTheVerbThatTakesIt) {
  const auto hint = [](std::string_view name, Hint of_model) {
    const Blob zip = ZipBuilder{.entries = {zip_entry(name, smallest_model())}}.build();
    return advice_on_kind(zip, of_model).hint;
  };
  EXPECT_EQ(hint("a.onnx", Hint::repack_plain_zip), Hint::repack_plain_zip);
  EXPECT_EQ(hint("folder/a.onnx", Hint::repack_plain_zip), Hint::pack_it);
  EXPECT_EQ(hint("a.onnx", Hint::none), Hint::none);
  EXPECT_EQ(hint("folder/a.onnx", Hint::none), Hint::none);
}

constexpr std::string_view tensorflow = "a TensorFlow model ";

TEST(FileKind, ATensorFlowGraphBeginsWithANamedNode) {
  EXPECT_EQ(kind_of(Message().message(1, Message().string(1, "x")).view()), tensorflow);
  EXPECT_EQ(kind_of(Message().message(2, Message().string(1, "x")).view()), "");
  EXPECT_EQ(kind_of(Message().message(1, Message().string(2, "x")).view()), "");
  EXPECT_EQ(kind_of(Message().message(1, Message().varint(1, 7)).view()), "");
  EXPECT_EQ(kind_of(Message().fixed64(1, 0x060a).view()), "") << "the eight bytes would be such a node";
}

TEST(FileKind, ATensorFlowSavedModelHasVersion1AndGraphs) {
  const Message graph = Message().message(2, Message());
  EXPECT_EQ(kind_of(Message().varint(1, 1).message(2, graph).view()), tensorflow);
  EXPECT_EQ(kind_of(Message().varint(1, 2).message(2, graph).view()), "");
  EXPECT_EQ(kind_of(Message().varint(1, 1).view()), "");
  EXPECT_EQ(kind_of(Message().varint(1, 1).message(2, Message().message(3, Message())).view()), "");
  EXPECT_EQ(kind_of(Message().fixed32(1, 1).message(2, graph).view()), "") << "the version is a varint";
  const Message without_graph = Message().varint(1, 1).message(model_field::opset_import, opset("ai", 1));
  EXPECT_EQ(kind_of(without_graph.view()), "") << "a ModelProto of the first version";
}

TEST(FileKind, TellsGraphProtoFromTensorFlowGraph) {
  const Message node = Message().message(graph_field::node, testing::node("Neg", {"a"}, {"b"}));
  for (const std::uint32_t field : {graph_field::initializer, graph_field::input, graph_field::output}) {
    EXPECT_EQ(kind_of(Message(node).message(field, Message()).view()), "a GraphProto without the ModelProto around it");
    EXPECT_EQ(kind_of(Message(node).message(field, Message()).string(graph_field::name, "g").view()),
              "a GraphProto without the ModelProto around it");
    EXPECT_EQ(kind_of(Message(node).message(field, Message()).varint(99, 1).view()), tensorflow);
  }
}

const Message tensorflow_graph = Message().message(1, Message().string(1, "x"));

std::optional<Error> refusal_of_other_kind(const Blob& file) {
  return error_if_any([&file] { refuse_other_kind(file); });
}

TEST(RefuseOtherKind, NamesKindOfMessageWithoutGraph) {
  const auto error = refusal_of_other_kind(tensorflow_graph.view());
  expect_error(error, {.code = Code::onnx_model_invalid, .offset = 0, .hint = Hint::kind_other});
  EXPECT_THAT(error->advice().value, StartsWith(tensorflow));
}

TEST(RefuseOtherKind, NamesKindOfBytesThatAreNoMessage) {
  const auto error = refusal_of_other_kind(blob("<html>"));
  expect_error(error, {.code = Code::wire_type, .offset = 0, .hint = Hint::kind_other});
  EXPECT_THAT(error->advice().value, StartsWith("a web page"));
}

TEST(RefuseOtherKind, AcceptsModelsZipsAndUnknownBytes) {
  EXPECT_FALSE(refusal_of_other_kind(model({}).view()));
  EXPECT_FALSE(refusal_of_other_kind(Message(tensorflow_graph).message(model_field::graph, graph({})).view()));
  EXPECT_FALSE(refusal_of_other_kind(smallest_archive().bytes));
  EXPECT_FALSE(refusal_of_other_kind(blob("\1\2\3")));
  EXPECT_FALSE(refusal_of_other_kind({}));
  Blob zip_after_page = blob("<html>");
  insert(zip_after_page, zip_after_page.size(), smallest_archive().bytes);
  EXPECT_FALSE(refusal_of_other_kind(zip_after_page));
}

TEST(LooksLikeText, LooksForControlsInFirst256Bytes) {
  for (const std::size_t at : {255U, 256U}) {
    std::string text = "a:" + std::string(300, ' ');
    text[at] = '\x01';
    EXPECT_EQ(looks_like_text(as_bytes(text)), at == 256) << at;
  }
}

}  // namespace
}  // namespace onnxar::testing
