// Links of tensors to entries: the bytes that they name, and the code and place of each refusal.
#include "archive/external_tensor.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "archive/opened.h"
#include "support/ranged_blob.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

constexpr std::size_t tensor_begin = 9;

/// A tensor that begins at `tensor_begin` of its model.
class Placed {
 public:
  explicit Placed(const Message& tensor) : model_(tensor_begin) {
    insert(model_, tensor_begin, tensor.view());
    view_ = onnx::read_tensor(model_, {tensor_begin, model_.size()});
  }
  [[nodiscard]] const onnx::TensorView& view() const { return view_; }

 private:
  Blob model_;
  onnx::TensorView view_;
};

TensorBuilder floats_in(std::int64_t count, std::string_view key = "w") {
  return tensor("t", dtype::float32, {count}).external(key, 8, static_cast<std::uint64_t>(4 * count));
}

std::optional<ErrorContext> refusal(const Message& tensor) {
  const Placed placed(tensor);
  return refusal_of([&] { return proved_link(placed.view()); });
}

TEST(ProvedLink, FaultsAreAtTheTensor) {
  EXPECT_EQ(refusal(floats_in(3)), std::nullopt);
  EXPECT_EQ(refusal(tensor("t", dtype::string, {3}).external("w", 0, 12)),
            (ErrorContext{Code::onnx_external_string, "", tensor_begin}));
  EXPECT_EQ(refusal(floats_in(3).raw_data(pattern(12))),
            (ErrorContext{Code::onnx_external_data_beside, "", tensor_begin}));
  EXPECT_EQ(refusal(floats_in(3).float_data({1, 2, 3})),
            (ErrorContext{Code::onnx_external_data_beside, "", tensor_begin}));
  EXPECT_EQ(refusal(tensor("t", dtype::float32, {3}).external("w", 8, 11)),
            (ErrorContext{Code::onnx_tensor_length, "", tensor_begin}));
  EXPECT_EQ(refusal(tensor("t", 99, {3}).external("w", 8, 11)), std::nullopt) << "no size is known";
}

TEST(ExportedLink, AcceptsDataBesideAndALengthOfZero) {
  const Placed beside(floats_in(3).raw_data(pattern(12)));
  EXPECT_EQ(exported_link(beside.view()).length, 12U);
  const Placed zero(tensor("t", dtype::float32, {3}).external("w", 8, 0));
  EXPECT_EQ(exported_link(zero.view()).length, std::nullopt);
  const Placed empty(tensor("t", dtype::float32, {0}).external("w", 8, 0));
  EXPECT_EQ(exported_link(empty.view()).length, std::nullopt) << "the dims call for no bytes";
}

/// The bytes that the tensor's link names in an archive whose entry `w` has 40 bytes.
Blob named(const Archive& archive, const Message& tensor) {
  const Placed placed(tensor);
  return copy_of(bytes_of(archive, part_named(archive, placed.view(), proved_link(placed.view()))));
}

TEST(PartNamed, IsTheSameInMemoryAndInRanges) {
  const Built built = built_with({zip_entry("w", pattern(40))});
  const Blob whole = pattern(40);
  for (const Archive& archive : {opened(built.bytes), Archive::open(by_ranges(built.bytes))}) {
    EXPECT_EQ(named(archive, floats_in(3)), Blob(whole.begin() + 8, whole.begin() + 20));
    EXPECT_EQ(named(archive, floats_in(8)), Blob(whole.begin() + 8, whole.end()));
    EXPECT_EQ(named(archive, tensor("t", dtype::float32, {3}).external("w", 8, {})),
              Blob(whole.begin() + 8, whole.begin() + 20));
    EXPECT_EQ(named(archive, tensor("t", 99, {3}).external("w", 30, {})), Blob(whole.begin() + 30, whole.end()));
    const Messages outsides = {floats_in(9), tensor("t", 99, {1}).external("w", 41, {}),
                               tensor("t", 99, {1}).external("w", UINT64_MAX, 8)};
    for (const Message& outside : outsides) {
      EXPECT_EQ(refusal_of([&] { named(archive, outside); }),
                (ErrorContext{Code::onnx_external_out_of_range, "", tensor_begin}));
    }
    EXPECT_EQ(refusal_of([&] { named(archive, floats_in(3, "W")); }),
              (ErrorContext{Code::onnx_external_missing, "", tensor_begin}));
  }
}

TEST(PartNamed, FaultOfTheEntryComesFirst) {
  Built built = built_with({zip_entry("w", pattern(40))});
  flip_bit(built.bytes, built.entry("w").header_offset + 30);  // the name
  const Archive archive = Archive::open(by_ranges(built.bytes));
  EXPECT_EQ(refusal_of([&] { named(archive, floats_in(9)); }),
            (ErrorContext{Code::zip_local_name, "w", built.entry("w").header_offset}));
}

TEST(ViewOfMessage, RefusesImpossibleDimsAndRepeatedKeys) {
  const std::int64_t negative[] = {2, -1}, huge[] = {INT64_MAX, INT64_MAX};
  TensorMessage message;
  message.type = DataType::float32;
  for (const std::span<const std::int64_t> dims : {std::span<const std::int64_t>(negative), {huge}}) {
    message.dims = dims;
    EXPECT_EQ(code_of([&] { return view_of(message); }), Code::onnx_tensor_dims);
  }
  message.dims = {};
  message.external_data = {{"location", "a"}, {"location", "b"}};
  EXPECT_EQ(code_of([&] { return view_of(message); }), Code::onnx_external_duplicate_key);
}

}  // namespace
}  // namespace onnxar::testing
