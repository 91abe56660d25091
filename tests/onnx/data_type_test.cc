// Names and sizes of data types are compared with a second copy of the tables of ONNX's documentation.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "onnxar/tensor.h"

namespace onnxar {
namespace {

constexpr std::int64_t largest_dim = std::numeric_limits<std::int64_t>::max();

struct Row {
  std::int32_t number;
  std::string name;
  unsigned bits;
};

const std::vector<Row>& all_types() {
  static const std::vector<Row> rows = {
      {0, "UNDEFINED", 0},   {1, "FLOAT", 32},
      {2, "UINT8", 8},       {3, "INT8", 8},
      {4, "UINT16", 16},     {5, "INT16", 16},
      {6, "INT32", 32},      {7, "INT64", 64},
      {8, "STRING", 0},      {9, "BOOL", 8},
      {10, "FLOAT16", 16},   {11, "DOUBLE", 64},
      {12, "UINT32", 32},    {13, "UINT64", 64},
      {14, "COMPLEX64", 64}, {15, "COMPLEX128", 128},
      {16, "BFLOAT16", 16},  {17, "FLOAT8E4M3FN", 8},
      {19, "FLOAT8E5M2", 8}, {18, "FLOAT8E4M3FNUZ", 8},
      {21, "UINT4", 4},      {20, "FLOAT8E5M2FNUZ", 8},
      {22, "INT4", 4},       {23, "FLOAT4E2M1", 4},
      {24, "FLOAT8E8M0", 8}, {25, "UINT2", 2},
      {26, "INT2", 2},       {27, "FLOAT6E2M3", 6},
      {28, "FLOAT6E3M2", 6},
  };
  return rows;
}

std::optional<std::uint64_t> size_of(DataType type, const std::vector<std::int64_t>& dims) {
  return payload_size(type, dims);
}

TEST(DataType, EveryTypeHasItsNameAndSize) {
  EXPECT_EQ(all_types().size(), 29U);
  for (const Row& row : all_types()) {
    const auto type = static_cast<DataType>(row.number);
    EXPECT_EQ(to_string(type), row.name);
    EXPECT_EQ(bits_per_element(type), row.bits) << row.name;
  }
}

TEST(DataType, ShapesAreListsInBrackets) {
  EXPECT_EQ(shape_text({}), "[]");
  EXPECT_EQ(shape_text(std::vector<std::int64_t>{7}), "[7]");
  EXPECT_EQ(shape_text(std::vector<std::int64_t>{1, 2}), "[1,2]");
  EXPECT_EQ(shape_text(std::vector<std::int64_t>{64, 3, 0, -1}), "[64,3,0,-1]");
}

TEST(DataType, ATypeThatIsNotKnownYetIsCarriedByItsNumber) {
  for (const std::int32_t number : {29, 30, 1000, -1, std::numeric_limits<std::int32_t>::min()}) {
    const auto type = static_cast<DataType>(number);
    EXPECT_EQ(to_string(type), std::to_string(number));
    EXPECT_EQ(bits_per_element(type), 0U);
    EXPECT_EQ(size_of(type, {2, 3}), std::nullopt);
    EXPECT_EQ(size_of(type, {0}), std::nullopt);
  }
}

TEST(PayloadSize, IsTheBitsOfAllElementsRoundedUpToBytes) {
  for (const Row& row : all_types()) {
    if (row.bits == 0) continue;
    for (std::int64_t n = 0; n <= 17; ++n) {
      const std::uint64_t expected = (static_cast<std::uint64_t>(n) * row.bits + 7) / 8;
      EXPECT_EQ(size_of(static_cast<DataType>(row.number), {n}), expected) << row.name << " x " << n;
    }
  }
}

TEST(PayloadSize, IsThatOfTheProductOfTheDimensions) {
  struct Case {
    DataType type;
    std::vector<std::int64_t> dims;
    std::uint64_t size;
  };
  for (const auto& [type, dims, size] : {
           Case{DataType::float32, {}, 4},
           Case{DataType::complex128, {}, 16},
           Case{DataType::int4, {}, 1},
           Case{DataType::uint2, {}, 1},
           Case{DataType::float32, {2, 3, 5}, 120},
           Case{DataType::int4, {3, 3}, 5},
           Case{DataType::int2, {3, 3}, 3},
           // Dimensions of zero mean no bytes however large the others are.
           Case{DataType::float64, {0}, 0},
           Case{DataType::float64, {largest_dim, largest_dim, 0, largest_dim}, 0},
           Case{DataType::uint8, {1LL << 40, 1LL << 40, 0}, 0},
           // The largest sizes are exact.
           Case{DataType::uint8, {largest_dim, 2}, 0xfffffffffffffffe},
           Case{DataType::float64, {(1LL << 61) - 1}, 0xfffffffffffffff8},
           Case{DataType::uint4, {largest_dim}, 1ULL << 62U},
           Case{DataType::float6e2m3, {largest_dim, 2}, 0xbfffffffffffffff},
           Case{DataType::uint2, {largest_dim, 2}, 1ULL << 62U},
       }) {
    EXPECT_EQ(size_of(type, dims), size) << to_string(type) << shape_text(dims);
  }
}

TEST(PayloadSize, IsUnknownForStringsBadDimensionsAndOverflow) {
  struct Case {
    DataType type;
    std::vector<std::int64_t> dims;
  };
  for (const auto& [type, dims] : {
           Case{DataType::float32, {-1}},
           Case{DataType::float32, {-2, -2}},
           Case{DataType::float32, {0, -1}},
           Case{DataType::uint8, {std::numeric_limits<std::int64_t>::min()}},
           Case{DataType::uint8, {1LL << 40, 1LL << 40, -1}},
           Case{DataType::uint8, {largest_dim, 3}},
           Case{DataType::uint8, {1LL << 32, 1LL << 32}},
           Case{DataType::uint8, {1LL << 40, 1LL << 40, 1, 2}},
           // The elements can be counted, their bytes cannot.
           Case{DataType::uint16, {largest_dim, 2}},
           Case{DataType::float64, {1LL << 61}},
           Case{DataType::complex128, {1LL << 60}},
           Case{DataType::string, {3}},
           Case{DataType::undefined, {}},
       }) {
    EXPECT_EQ(size_of(type, dims), std::nullopt) << to_string(type) << shape_text(dims);
  }
}

}  // namespace
}  // namespace onnxar
