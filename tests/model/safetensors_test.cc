// Tests reading weights from safetensors files.
#include "model/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "archive/file_kind.h"
#include "model/front_end.h"
#include "support/model_samples.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A file with this header, and `size` bytes of data.
Blob safe_file(std::string_view header, std::size_t size) {
  Blob file;
  const std::uint64_t length = header.size();
  for (unsigned i = 0; i < 8; ++i) file.push_back(static_cast<std::byte>(length >> (8 * i)));
  for (const char c : header) file.push_back(static_cast<std::byte>(c));
  const Blob data = pattern(size);
  file.insert(file.end(), data.begin(), data.end());
  return file;
}

std::string member(std::string_view name, std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return "\"" + std::string(name) + R"(":{"dtype":")" + std::string(dtype) + R"(","shape":)" + std::string(shape) +
         R"(,"data_offsets":)" + std::string(offsets) + "}";
}

std::string header_of(const std::vector<std::string>& members) {
  std::string text = "{";
  for (const std::string& each : members) text += (text.size() == 1 ? "" : ",") + each;
  return text + "}";
}

std::optional<Code> code_of_header(std::string_view header, std::size_t size) {
  const Blob file = safe_file(header, size);
  return code_of([&] { return parse_safetensors(file); });
}

TEST(ParseSafetensors, TypeShapeAndDataAreFound) {
  const Blob file = safe_file(header_of({member("a", "F32", "[1, 2]", "[0, 8]"), member("b", "U8", "[]", "[8,9]")}), 9);
  const auto tensors = parse_safetensors(file);
  ASSERT_THAT(tensors, SizeIs(2));
  EXPECT_EQ(tensors.at("a").type, DataType::float32);
  EXPECT_THAT(tensors.at("a").dims, ElementsAre(1, 2));
  EXPECT_EQ(tensors.at("a").data.data(), file.data() + file.size() - 9);
  EXPECT_EQ(tensors.at("a").data.size(), 8U);
  EXPECT_THAT(tensors.at("b").dims, IsEmpty());
  EXPECT_EQ(tensors.at("b").data.data(), file.data() + file.size() - 1);
}

TEST(ParseSafetensors, EveryTypeHasTheOneOfOnnx) {
  const std::vector<std::tuple<std::string, DataType, int>> types = {{"BOOL", DataType::boolean, 1},
                                                                     {"U8", DataType::uint8, 1},
                                                                     {"I8", DataType::int8, 1},
                                                                     {"U16", DataType::uint16, 2},
                                                                     {"I16", DataType::int16, 2},
                                                                     {"U32", DataType::uint32, 4},
                                                                     {"I32", DataType::int32, 4},
                                                                     {"U64", DataType::uint64, 8},
                                                                     {"I64", DataType::int64, 8},
                                                                     {"F16", DataType::float16, 2},
                                                                     {"BF16", DataType::bfloat16, 2},
                                                                     {"F32", DataType::float32, 4},
                                                                     {"F64", DataType::float64, 8},
                                                                     {"F8_E4M3", DataType::float8e4m3fn, 1},
                                                                     {"F8_E5M2", DataType::float8e5m2, 1},
                                                                     {"C64", DataType::complex64, 8},
                                                                     {"C128", DataType::complex128, 16}};
  for (const auto& [name, type, width] : types) {
    const std::string end = "[0," + std::to_string(width) + "]";
    const Blob file = safe_file(header_of({member("w", name, "[1]", end)}), static_cast<std::size_t>(width));
    EXPECT_EQ(parse_safetensors(file).at("w").type, type) << name;
  }
  EXPECT_EQ(code_of_header(header_of({member("w", "F4", "[2]", "[0,1]")}), 1), Code::safetensors_type);
}

TEST(ParseSafetensors, NamesAreUnescaped) {
  const Blob file = safe_file(header_of({member(R"(a\"\/\n\u00e9\ud83d\ude00)", "U8", "[0]", "[0,0]")}), 0);
  EXPECT_TRUE(parse_safetensors(file).contains("a\"/\n\xc3\xa9\xf0\x9f\x98\x80"));
  for (const std::string_view name :
       {R"(\ud83d)", R"(\ude00)", R"(\ud83d\u0041)", R"(\u00g0)", R"(\x)", R"(\)", "\n", "\xff"}) {
    EXPECT_EQ(code_of_header(header_of({member(name, "U8", "[0]", "[0,0]")}), 0), Code::safetensors_malformed) << name;
  }
}

TEST(ParseSafetensors, MetadataAndSpacesAreAllowed) {
  EXPECT_THAT(parse_safetensors(safe_file(R"({"__metadata__": {"format": "pt", "a": "b"}}   )", 0)), IsEmpty());
  EXPECT_THAT(parse_safetensors(safe_file("{ }", 0)), IsEmpty());
  EXPECT_EQ(code_of_header(R"({"__metadata__": {"format": 1}})", 0), Code::safetensors_malformed);
  EXPECT_EQ(code_of_header("{} {}", 0), Code::safetensors_malformed);
}

TEST(ParseSafetensors, DataHasNoHolesAndNoOverlaps) {
  const auto code_of_places = [](std::string_view first, std::string_view second, std::size_t size) {
    return code_of_header(header_of({member("a", "U8", "[4]", first), member("b", "U8", "[4]", second)}), size);
  };
  EXPECT_EQ(code_of_places("[0,4]", "[4,8]", 8), std::nullopt);
  EXPECT_EQ(code_of_places("[4,8]", "[0,4]", 8), std::nullopt);
  EXPECT_EQ(code_of_places("[0,4]", "[5,9]", 9), Code::safetensors_malformed);
  EXPECT_EQ(code_of_places("[0,4]", "[3,7]", 7), Code::safetensors_malformed);
  EXPECT_EQ(code_of_places("[1,5]", "[5,9]", 9), Code::safetensors_malformed);
  EXPECT_EQ(code_of_places("[0,4]", "[4,8]", 9), Code::safetensors_malformed);
  EXPECT_EQ(code_of_places("[0,4]", "[4,8]", 7), Code::safetensors_malformed);
  EXPECT_EQ(code_of_places("[0,4]", "[8,4]", 8), Code::safetensors_malformed);
}

TEST(ParseSafetensors, DataHasTheLengthOfTypeAndShape) {
  EXPECT_EQ(code_of_header(header_of({member("a", "F32", "[2]", "[0,7]")}), 7), Code::safetensors_malformed);
  EXPECT_EQ(code_of_header(header_of({member("a", "U8", "[4294967296,4294967296]", "[0,0]")}), 0),
            Code::safetensors_malformed);
  EXPECT_EQ(code_of_header(header_of({member("a", "U8", "[9223372036854775808]", "[0,0]")}), 0),
            Code::safetensors_malformed);
  EXPECT_EQ(code_of_header(header_of({member("a", "U8", "[-1]", "[0,0]")}), 0), Code::safetensors_malformed);
  EXPECT_EQ(code_of_header(header_of({member("a", "U8", "[01]", "[0,1]")}), 1), Code::safetensors_malformed);
}

TEST(ParseSafetensors, EachTensorHasItsThreeMembersOnce) {
  for (const std::string_view tensor :
       {R"({"dtype":"U8","shape":[0]})", R"({"dtype":"U8","shape":[0],"data_offsets":[0,0],"more":1})",
        R"({"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]})",
        R"({"dtype":"U8","shape":[0],"data_offsets":[0]})", "[]", "1"}) {
    EXPECT_EQ(code_of_header(R"({"a":)" + std::string(tensor) + "}", 0), Code::safetensors_malformed) << tensor;
  }
  const std::string empty = member("a", "U8", "[0]", "[0,0]");
  EXPECT_EQ(code_of_header(header_of({empty, empty}), 0), Code::safetensors_malformed) << "one name twice";
}

TEST(ParseSafetensors, AFileThatIsCutAnywhereIsRefused) {
  const Blob file = safe_file(header_of({member("a", "F32", "[1]", "[0,4]")}), 4);
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_EQ(code_of([&] { return parse_safetensors(Bytes(file).first(size)); }), Code::safetensors_malformed) << size;
  }
}

TEST(ParseSafetensors, RefusalHasThePlaceInTheFile) {
  const Blob file = safe_file(R"({"a":?})", 0);
  EXPECT_EQ(error_if_any([&] { return parse_safetensors(file); })->offset(), 8U + 5);
}

TEST(LooksLikeSafetensors, AHeaderBeginsWithABraceAndHasTheStatedLength) {
  EXPECT_TRUE(safetensors_header(safe_file("{}", 0)).has_value());
  EXPECT_FALSE(safetensors_header(safe_file("[]", 0)).has_value());
  EXPECT_FALSE(safetensors_header(safe_file("{", 0)).has_value());
  Blob longer = safe_file("{}", 0);
  longer.front() = std::byte{3};
  EXPECT_FALSE(safetensors_header(longer).has_value());
  EXPECT_FALSE(safetensors_header(Bytes()).has_value());
}

TEST(SafetensorsWeights, DataIsAViewThatKeepsTheFileMapped) {
  const TempDir folder;
  const auto path = folder.write_file("w", safe_file(header_of({member("a", "U8", "[3]", "[0,3]")}), 3));
  Model model;
  add_initializer(model, "a", dtype::uint8, {3});
  model.proto().mutable_graph()->add_output()->set_name("a");
  freeze(model, {.weights = path});
  const ByteSpan data = model.payload(initializer(model, 0));
  EXPECT_FALSE(data.owned());
  EXPECT_EQ(copied(data), pattern(3));
}

TEST(SafetensorsWeights, RefusalsNameTheFile) {
  const TempDir folder;
  const auto path = folder.write_file("w", safe_file("{1}", 0));
  Model model;
  EXPECT_EQ(error_if_any([&] { return freeze(model, {.weights = path}); })->path(), path);
}

}  // namespace
}  // namespace onnxar::testing
