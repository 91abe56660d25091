// The description in a `.npy`: every character where NumPy's form breaks off, and every type of an element.
#include "model/npy.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "convert/numpy_format.h"
#include "support/refusal.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

/// The code of parsing a `.npy` with this description and so many bytes of data.
std::optional<Code> code_of_description(std::string_view description, std::size_t size) {
  std::string text = "\x93NUMPY\x01";
  text += {'\0', static_cast<char>(description.size()), '\0'};
  text += description;
  const Blob data = pattern(size);
  Blob file(as_bytes(text).begin(), as_bytes(text).end());
  file.insert(file.end(), data.begin(), data.end());
  return code_of([&] { return parse_npy(file); });
}

std::optional<Code> code_of_type(std::string_view descr, std::size_t size) {
  return code_of_description("{'descr': '" + std::string(descr) + "', 'shape': (1,)}", size);
}

TEST(NpyDescription, IsRefusedWhereverItBreaksOff) {
  constexpr std::string_view whole = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1)}";
  EXPECT_EQ(code_of_description(whole, 8), std::nullopt);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(code_of_description(whole.substr(0, size), 8), Code::numpy_array_malformed) << whole.substr(0, size);
  }
}

TEST(NpyDescription, IsRefusedWithAnyOtherMark) {
  for (const std::string_view other : {
           "['descr': '<f4', 'shape': (2,)}",                          // not a dictionary
           "{descr: '<f4', 'shape': (2,)}",                            // a key without quotes
           "{'descr' '<f4', 'shape': (2,)}",                           // no colon
           "{'descr': '<f4' 'shape': (2,)}",                           // no comma
           "{'descr': '<f4', 'shape': [2,]}",                          // a list
           "{'descr': '<f4', 'shape': (2; 1)}",                        // no comma in the shape
           "{'descr': '<f4', 'shape': (2 1)}",                         // only a space in the shape
           "{'descr': '<f4', 'shape': (x,)}",                          // not a number
           "{'descr': '<f4', 'shape': (99999999999999999999,)}",       // more than 64 bits
           "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}",  // neither True nor False
           "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",      // a number
           "{'descr': '', 'shape': (2,)}",                             // no type
           "{'descr': '<f4}",                                          // a string without an end
       }) {
    EXPECT_EQ(code_of_description(other, 8), Code::numpy_array_malformed) << other;
  }
}

// Fortran order is allowed with at most one dimension, where it changes nothing.
TEST(NpyDescription, MayHaveSpacesLinesAndFortranOrder) {
  EXPECT_EQ(code_of_description("{ 'descr' :\n '<f4' , 'shape' : ( 2 , ) , } \n", 8), std::nullopt);
  EXPECT_EQ(code_of_description("{'descr': '<f4', 'fortran_order': True, 'shape': (2,)}", 8), std::nullopt);
  EXPECT_EQ(code_of_description("{'descr': '<f4', 'fortran_order': True, 'shape': ()}", 4), std::nullopt);
}

TEST(NpyDescription, TypesThatOnnxLacksAreRefused) {
  for (const std::string_view type : {"<", "<f", "<f0", "<fx", "<f4x", "<U8", "|S8", "<M8", "|O8"}) {
    EXPECT_EQ(code_of_type(type, 8), Code::numpy_array_unsupported) << type;
  }
  for (const auto& [type, size] : {std::pair{"<c16", 16U}, std::pair{"|V3", 3U}, std::pair{"|b1", 1U}}) {
    EXPECT_EQ(code_of_type(type, size), std::nullopt) << type;
  }
}

TEST(NumpyTypes, EveryTypeHasItsForm) {
  constexpr std::array<std::pair<DataType, std::string_view>, 29> forms = {{
      {DataType::undefined, ""},       {DataType::string, ""},
      {DataType::float16, "<f2"},      {DataType::float32, "<f4"},
      {DataType::float64, "<f8"},      {DataType::complex64, "<c8"},
      {DataType::complex128, "<c16"},  {DataType::boolean, "|b1"},
      {DataType::int8, "|i1"},         {DataType::int16, "<i2"},
      {DataType::int32, "<i4"},        {DataType::int64, "<i8"},
      {DataType::uint8, "|u1"},        {DataType::uint16, "<u2"},
      {DataType::uint32, "<u4"},       {DataType::uint64, "<u8"},
      {DataType::bfloat16, "<u2"},     {DataType::int4, "|i1"},
      {DataType::int2, "|i1"},         {DataType::uint4, "|u1"},
      {DataType::uint2, "|u1"},        {DataType::float4e2m1, "|u1"},
      {DataType::float8e4m3fn, "|u1"}, {DataType::float8e4m3fnuz, "|u1"},
      {DataType::float8e5m2, "|u1"},   {DataType::float8e5m2fnuz, "|u1"},
      {DataType::float8e8m0, "|u1"},   {DataType::float6e2m3, "|u1"},
      {DataType::float6e3m2, "|u1"},
  }};
  for (const auto& [type, form] : forms) {
    EXPECT_EQ(numpy_type(type).descr, form) << to_string(type);
    const bool whole_bytes = bits_per_element(type) >= 8;
    EXPECT_EQ(is_numpy_form(type, form), whole_bytes) << to_string(type) << ": smaller elements are spread";
    EXPECT_FALSE(is_numpy_form(type, "<f3")) << to_string(type);
    EXPECT_FALSE(is_numpy_form(type, "")) << to_string(type);
  }
  EXPECT_EQ(numpy_type(static_cast<DataType>(99)).descr, "");
}

// This holds only for types that NumPy lacks.
TEST(NumpyTypes, PlainBytesStandForTypesOfTheirSize) {
  EXPECT_TRUE(numpy_type(DataType::bfloat16).as_integers);
  EXPECT_FALSE(numpy_type(DataType::float16).as_integers);
  EXPECT_TRUE(is_numpy_form(DataType::bfloat16, "|V2"));
  EXPECT_FALSE(is_numpy_form(DataType::float32, "|V4"));
  EXPECT_FALSE(is_numpy_form(DataType::float32, "<i4"));
  EXPECT_TRUE(is_numpy_form(DataType::float8e5m2, "|V1"));
  EXPECT_FALSE(is_numpy_form(DataType::float8e5m2, "|V2"));
  EXPECT_FALSE(is_numpy_form(DataType::int8, "|V1"));
}

}  // namespace
}  // namespace onnxar::testing
