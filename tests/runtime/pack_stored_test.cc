// Which files of ONNX Runtime become a stored model, and which are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>

#include "onnxar/stored_model.h"
#include "runtime/storing.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(StoredModelTest, ModelWithoutLargeWeightsHasNoData) {
  const Message optimised = with_ends({floats("w", 3)});
  const StoredModel model = stored(optimised, {});
  EXPECT_EQ(model.link().model, optimised.view());
  EXPECT_TRUE(is_stored());
}

TEST_F(StoredModelTest, NamesDefinedTwiceAreNotStored) {
  const Built built =
      archive_of(with_ends({linked_floats("w", 300, "w"), floats("w", 300)}), {zip_entry("w", pattern(1200, 1))});
  folder_.write_file("x.onnxar", built.bytes);
  StoredModel model = opened();
  EXPECT_EQ(code_of([&] { model.prepare(); }), Code::onnx_graph_duplicate);
  EXPECT_THAT(folder_.file_names(), ElementsAre("cache/", "x.onnxar"));
}

TEST_F(StoredModelTest, OtherInputsOrOutputsAreRefused) {
  const Message x = value_info("x", dtype::float32, {1}), w = value_info("w", dtype::float32, {300});
  const auto expect = [&](bool is_same, const Message& before, const Message& after) {
    folder_.write_file("x.onnxar", archive_of(before, {zip_entry("w", pattern(1200, 1))}).bytes);
    const auto error = refusal(after, data_);
    EXPECT_EQ(!error, is_same);
    EXPECT_THAT(error ? error->what() : "", HasSubstr(is_same ? "" : "other inputs or outputs"));
    EXPECT_NE(fs::exists(folder_ / "cache/stored.refused"), is_same);
    fs::remove(file_);
    fs::remove(folder_ / "cache/stored.refused");
  };
  const TensorBuilder before = linked_floats("w", 300, "w"), after = linked_floats("w", 300, "data");
  for (const std::int64_t version : {3, 8}) {
    expect(true, with_ends({before}, {x}, version), with_ends({}, {x}, version));
    expect(true, with_ends({before}, {x, w}, version), with_ends({after}, {x, w}, version));
    // An initializer that became a constant, and is an input still.
    expect(false, with_ends({before}, {x, w}, version), with_ends({}, {x, w}, version));
    expect(false, with_ends({before}, {x}, version), with_ends({after}, {}, version));
    expect(version == 3, with_ends({before}, {x, w}, version), with_ends({after}, {x}, version));
  }
  Message renamed = model({.graph = graph({.inputs = {x}, .outputs = {value_info("z", dtype::float32, {1})}})});
  expect(false, with_ends({before}), renamed);
}

TEST_F(StoredModelTest, NothingWrittenIsAnError) {
  StoredModel model = opened();
  model.prepare();
  EXPECT_EQ(code_of([&] { model.store(); }), Code::io_not_found);
}

}  // namespace
}  // namespace onnxar::testing
