// Which entries the model and the graphs of a zip link to.
#include <gtest/gtest.h>

#include "archive/repack_plan.h"
#include "support/refusal.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

/// A zip whose models are texts: `>w` links to `w`, `!` cannot be read, and others link to nothing.
class RepackModelsTest : public ::testing::Test {
 protected:
  RepackModelsTest() {
    reading_.linked_names = [this](Bytes model) {
      ++models_read_;
      const std::string text = text_of(model);
      if (text == "!") throw Error(Code::wire_truncated, "cut", {"", 3});
      return text.starts_with('>') ? base::KeyedSet<std::string>{text.substr(1)} : base::KeyedSet<std::string>();
    };
    reading_.prove_model_name = [](Bytes, std::span<const std::string_view>) {
      throw Error(Code::archive_graph_name, "a clash");
    };
  }

  void make(std::string_view model, std::string_view graph) { make(model, zip_entry("g.onnx", blob(graph))); }
  void make(std::string_view model, const ZipEntry& graph) {
    ZipBuilder builder;
    builder.entries = {plain_entry(graph), plain_entry(zip_entry(model_entry, blob(model)))};
    built_ = builder.build_placed();
    directory_.emplace(zip::ForeignDirectory::read(built_.bytes, {}));
    models_.emplace(built_.bytes, *directory_, 8, reading_);
  }

  [[nodiscard]] const zip::ForeignEntry& entry(std::string_view name) const {
    return directory_->entries()[*directory_->find(name)];
  }

  ModelReading reading_;
  int models_read_ = 0;
  Built built_;
  std::optional<zip::ForeignDirectory> directory_;
  std::optional<RepackModels> models_;
};

TEST_F(RepackModelsTest, LinksAreThoseOfTheModelAndOfAllGraphsReadOnce) {
  make(">w", ">v");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(models_->links(entry(model_entry)), (RepackModels::Names{"w", "v"}));
  }
  EXPECT_EQ(models_read_, 2);
  EXPECT_TRUE(models_->has_links(entry("g.onnx")));
}

TEST_F(RepackModelsTest, AGraphThatCannotBeReadHasNoLinks) {
  make(">w", "!");
  EXPECT_EQ(models_->links(entry(model_entry)), RepackModels::Names{"w"});
  EXPECT_FALSE(models_->has_links(entry("g.onnx")));
}

TEST_F(RepackModelsTest, AModelWithTheNameOfAGraphIsReadOnce) {
  make(">w", ">v");
  EXPECT_EQ(models_->links(entry("g.onnx")), RepackModels::Names{"v"}) << "the name of the other one is not a graph's";
  EXPECT_EQ(models_read_, 1);
}

TEST_F(RepackModelsTest, ErrorsThatAreNotOfTheFormatPass) {
  make(">w", ">v");
  int models_before = 0;
  reading_.linked_names = [&](Bytes) -> base::KeyedSet<std::string> {
    if (models_before-- == 0) throw Error(Code::io_failed, "no memory");
    return {};
  };
  EXPECT_EQ(code_of([&] { return models_->links_if_readable(entry(model_entry)); }), Code::io_failed);
  models_before = 1;  // the model is read, and the graph is not
  EXPECT_EQ(code_of([&] { return models_->links_if_readable(entry(model_entry)); }), Code::io_failed);
}

TEST_F(RepackModelsTest, AGraphThatExpandsTooMuchIsNotRead) {
  ZipEntry graph = deflated_entry("g.onnx", zeros(3000));
  graph.in_both([](HeaderFields& header) { header.usize = 1'000'000; });
  make(">w", graph);
  EXPECT_EQ(code_of([&] { return models_->has_links(entry("g.onnx")); }), Code::zip_limit_expansion);
  EXPECT_EQ(models_read_, 0);
}

TEST_F(RepackModelsTest, AModelThatCannotBeReadIsAnErrorOrNothing) {
  make("!", ">v");
  EXPECT_EQ(code_of([&] { return models_->links(entry(model_entry)); }), Code::wire_truncated);
  EXPECT_EQ(models_->links_if_readable(entry(model_entry)), nullptr);
}

TEST_F(RepackModelsTest, AClashOfNamesIsRefusedAtTheModel) {
  make(">w", "");
  EXPECT_EQ(
      refusal_of([&] { models_->prove_model_name(entry(model_entry), {}); }),
      (ErrorContext{Code::archive_graph_name, std::string(model_entry), built_.entry(model_entry).central_offset}));
}

TEST_F(RepackModelsTest, AModelThatProtobufCannotReadIsRefusedAtItsHeader) {
  make(">w", "");
  zip::ForeignEntry large = entry(model_entry);
  large.size = 1ULL << 31U;
  EXPECT_EQ(code_of([&] { return models_->links(large); }), Code::archive_model_too_large) << "before it is read";
  EXPECT_EQ(refusal_of([&] { RepackModels::check_size(large); }),
            (ErrorContext{Code::archive_model_too_large, std::string(model_entry), large.central_offset}));
}

}  // namespace
}  // namespace onnxar::testing
