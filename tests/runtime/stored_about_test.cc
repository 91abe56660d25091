// A stored model is used only for what its text names.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "onnxar/link.h"
#include "onnxar/stored_model.h"
#include "runtime/storing.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

TEST_F(StoredModelTest, EverythingThatItDependsOnIsCompared) {
  stored();
  const StoredModel::Key key = key_;
  const std::vector<std::function<void()>> changes = {[&] { key_.runtime = "1.24 of today"; },
                                                      [&] { key_.settings = "level 2"; }, [&] { key_.settings = ""; },
                                                      [&] { write_archive(2); }};
  for (const auto& change : changes) {
    change();
    EXPECT_FALSE(is_stored());
    key_ = key;
  }
  write_archive(1);
  EXPECT_TRUE(is_stored());
}

TEST_F(StoredModelTest, NoTextPretendsToBeTwo) {
  key_.runtime = "a\nsettings b";
  key_.settings = "c";
  stored();
  key_.runtime = "a";
  key_.settings = "b\nsettings c";
  EXPECT_FALSE(is_stored());
}

TEST_F(StoredModelTest, GraphsDiffer) {
  ZipBuilder builder;
  builder.entries = {zip_entry("w", pattern(1200, 1)),
                     zip_entry("second.onnx", with_ends({linked_floats("v", 300, "w")}).view()),
                     zip_entry(model_entry, with_ends({linked_floats("w", 300, "w")}).view())};
  folder_.write_file("x.onnxar", builder.build_placed().bytes);
  stored();
  key_.graph = "second";
  EXPECT_FALSE(is_stored());
  const StoredModel second = opened();
  EXPECT_EQ(second.link().model, make_link(key_.archive, {.graph = "second"}, LinkForm::unmarked).model);
  key_.graph = "third";
  EXPECT_EQ(code_of([&] { return is_stored(); }), Code::usage_no_such_entry);
}

}  // namespace
}  // namespace onnxar::testing
