// The folder in which ONNX Runtime writes a model: what goes when the work ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "onnxar/stored_model.h"
#include "runtime/storing.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

TEST_F(StoredModelTest, NothingElseStays) {
  stored();
  EXPECT_THAT(folder_.file_names(), ElementsAre("cache/", "cache/stored", "cache/stored.lock", "x.onnxar"));
}

TEST_F(StoredModelTest, OneAtATimeStores) {
  auto first = std::make_unique<StoredModel>(opened());
  const fs::path output = first->prepare();
  write(output, optimised_, data_);
  EXPECT_EQ(code_of([&] { return opened().prepare(); }), Code::archive_busy);
  first.reset();  // without a result
  EXPECT_FALSE(fs::exists(output));
  fs::create_directory(output.parent_path());  // what a killed process leaves
  folder_.write_file("cache/stored.part/about", "onnxar stored model 2\n");
  write(output, optimised_, data_);
  EXPECT_TRUE(stored().is_stored());
  EXPECT_FALSE(fs::exists(output.parent_path()));
}

TEST_F(StoredModelTest, FailureEndsWhatPrepareBegan) {
  StoredModel model = opened();
  write(model.prepare(), with_ends({}, {}), data_);
  EXPECT_EQ(code_of([&] { model.store(); }), Code::usage_argument);
  EXPECT_FALSE(fs::exists(folder_ / "cache/stored.part"));
  EXPECT_EQ(code_of([&] { return model.prepare(); }), Code::usage_argument) << "the model is refused";
  fs::remove(folder_ / "cache/stored.refused");
  EXPECT_TRUE(stored().is_stored()) << "nothing is locked";
  fs::remove(file_);
  model.prepare();
  write(model.prepare(), optimised_, data_);
  model.store();
  EXPECT_TRUE(model.is_stored());
}

}  // namespace
}  // namespace onnxar::testing
