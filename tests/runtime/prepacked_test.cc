// Prepacked weights: where links and stored models have their ranges.
#include "runtime/prepacked.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnxar/link.h"
#include "onnxar/stored_model.h"
#include "runtime/linking.h"
#include "runtime/storing.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// In the link, their offsets count from the start of the file.
TEST_F(LinkTest, KeepsPrepackedWeightsOnlyIfRequested) {
  const Message before = linked_floats("w", 100, "w", 400)
                             .external_data("prepacked_0", "MatMul+7|0;80;0|80;16;x")
                             .external_data("prepacked_1", "Gemm+8|1199;1;0")
                             .external_data("other", "1");
  start_with(archive_of(model_of({before}), {zip_entry("a", pattern(70, 1)), zip_entry("w", pattern(1200, 5))}));
  const std::uint64_t begin = offset_of("w");
  const auto after = [&] { return linked_floats("w", 100, "x.onnxar", begin + 400); };
  EXPECT_EQ(make_link(archive_).model, model_with({after()}, marker_of(built_)).view());
  const auto at = [&](std::uint64_t offset) { return std::to_string(begin + offset); };
  EXPECT_EQ(make_link(archive_, {}, LinkForm::prepacked).model,
            model_with({after()
                            .external_data("prepacked_0", "MatMul+7|" + at(0) + ";80;0|" + at(80) + ";16;x")
                            .external_data("prepacked_1", "Gemm+8|" + at(1199) + ";1;0")},
                       {})
                .view());
}

TEST_F(LinkTest, PrepackedWeightsOutsideTheEntryAreRefused) {
  for (const std::string value : {"M+1|1;1200;0", "M+1|1200;1;0", "M+1|18446744073709551615;2;0", "M+1|-1;2;0",
                                  "M+1|0;80;0|0x1;2;0", "M+1|;;", "M+1|1", "M+1||0;1;0"}) {
    const Message tensor = linked_floats("w", 300, "w").external_data("prepacked_0", value);
    start_with(archive_of(model_of({tensor}), {zip_entry("w", pattern(1200, 5))}));
    const auto error = error_of([&] { make_link(archive_, {}, LinkForm::prepacked); });
    EXPECT_EQ(id(error.code()), "onnx.external_data.out_of_range") << value;
    EXPECT_THAT(error.what(), HasSubstr("prepacked"));
    EXPECT_EQ(make_link(archive_).tensors, 1U);
  }
}

TEST_F(StoredModelTest, DataLiesAlignedAndTheModelNamesItsPlaces) {
  constexpr std::size_t large = 1U << 20U;
  const auto half = static_cast<std::int64_t>(large);
  Blob data = pattern(large + 1700, 3);
  const Message optimised =
      with_ends({linked_floats("w", 300, "data", 84).external_data("prepacked_0", "MatMul+1|0;84;7|1284;16;8"),
                 linked_floats("same", 300, "data", 84),
                 tensor("big", dtype::uint8, {half}).external("data", 1300, large), floats("inline", 3)});
  const StoredModel model = stored(optimised, data);
  const Blob file = read_file(file_);
  const auto place_of = [&](std::size_t begin, std::size_t size) {
    const Bytes part = Bytes(data).subspan(begin, size);
    return static_cast<std::uint64_t>(std::ranges::search(file, part).begin() - file.begin());
  };
  const std::uint64_t w = place_of(84, 1200), first = place_of(0, 84), second = place_of(1284, 16),
                      big = place_of(1300, large);
  EXPECT_EQ(w % 256 + first % 256 + second % 256, 0U);
  EXPECT_EQ(big % 4096, 0U);
  const std::string blobs = "MatMul+1|" + std::to_string(first) + ";84;7|" + std::to_string(second) + ";16;8";
  EXPECT_EQ(model.link().model,
            with_ends({linked_floats("w", 300, "stored", w).external_data("prepacked_0", blobs),
                       linked_floats("same", 300, "stored", w),
                       tensor("big", dtype::uint8, {half}).external("stored", big, large), floats("inline", 3)})
                .view());
  EXPECT_LT(file.size(), data.size() + 20000);
}

TEST_F(StoredModelTest, DataOfBranchesIsMovedToo) {
  const auto with = [](const TensorBuilder& inner) {
    const Message branch = graph({.initializers = {inner}});
    return model({.graph = graph({.nodes = {node("If", {"x"}, {"y"}, {attribute_g("then_branch", branch)})},
                                  .inputs = {value_info("x", dtype::float32, {1})},
                                  .outputs = {value_info("y", dtype::float32, {1})}})});
  };
  const StoredModel model = stored(with(linked_floats("v", 100, "data", 4)), data_);
  const Blob file = read_file(file_);
  const auto found = std::ranges::search(file, Bytes(data_).subspan(4, 400)).begin() - file.begin();
  EXPECT_EQ(found % 256, 0);
  EXPECT_EQ(model.link().model, with(linked_floats("v", 100, "stored", static_cast<std::uint64_t>(found))).view());
}

TEST_F(StoredModelTest, DataOutsideOfItsFileIsRefused) {
  const auto at = [](std::string_view location, std::uint64_t offset, std::uint64_t length) {
    return tensor("w", dtype::uint8, {static_cast<std::int64_t>(length)}).external(location, offset, length);
  };
  const std::vector<std::pair<TensorBuilder, Code>> bad = {
      {at("other", 0, 16), Code::onnx_external_missing},
      {at("../data", 0, 16), Code::onnx_external_missing},
      {at("data", 1585, 16), Code::onnx_external_out_of_range},
      {at("data", 0, 1601), Code::onnx_external_out_of_range},
      {at("data", 0, 16).external_data("prepacked_0", "M|1585;16;1"), Code::onnx_external_out_of_range},
      {at("data", 0, 16).external_data("prepacked_0", "M|-1;16;1"), Code::onnx_external_out_of_range},
      {at("data", 0, 1600).external_data("prepacked_0", "M|1;16;1"), Code::onnx_external_out_of_range}};
  for (const auto& [tensor, code] : bad) {
    expect_error(refusal(with_ends({tensor}), data_), {.code = code});
    EXPECT_FALSE(fs::exists(file_));
  }
  EXPECT_EQ(id(refusal(with_ends({at("data", 0, 16)}), {})->code()), "onnx.external_data.out_of_range");
  EXPECT_FALSE(is_stored());
}

}  // namespace
}  // namespace onnxar::testing
