// Which entries the model and the graphs of a zip link to.
#include "convert/repack_models.h"

#include <gtest/gtest.h>

#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

const Blob damaged = blob("!");

Blob model_with_link_to(std::string_view location) { return model_of({linked_floats("t", 4, location)}).take(); }

class RepackModelsTest : public ::testing::Test {
 protected:
  void make(const Blob& model, const Blob& graph) { make(model, zip_entry("g.onnx", graph)); }
  void make(const Blob& model, const ZipEntry& graph) {
    ZipBuilder builder;
    builder.entries = {plain_entry(graph), plain_entry(zip_entry(model_entry, model))};
    built_ = builder.build_placed();
    directory_.emplace(zip::ForeignDirectory::read(built_.bytes, {}));
    models_.emplace(built_.bytes, *directory_, 8);
  }

  [[nodiscard]] const zip::ForeignEntry& entry(std::string_view name) const {
    return directory_->entries()[*directory_->find(name)];
  }

  Built built_;
  std::optional<zip::ForeignDirectory> directory_;
  std::optional<RepackModels> models_;
};

TEST_F(RepackModelsTest, LinksAreThoseOfTheModelAndOfAllGraphs) {
  make(model_with_link_to("w"), model_with_link_to("v"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(models_->links(entry(model_entry)), (RepackModels::Names{"w", "v"}));
  }
  EXPECT_FALSE(models_->links_of(entry("g.onnx")).empty());
}

TEST_F(RepackModelsTest, ALinkIsAlsoToTheEntryOfTheNormalName) {
  make(model_with_link_to("./w"), damaged);
  EXPECT_EQ(models_->links(entry(model_entry)), (RepackModels::Names{"./w", "w"}));
}

TEST_F(RepackModelsTest, AGraphThatCannotBeReadHasNoLinks) {
  make(model_with_link_to("w"), damaged);
  EXPECT_EQ(models_->links(entry(model_entry)), RepackModels::Names{"w"});
  EXPECT_TRUE(models_->links_of(entry("g.onnx")).empty());
}

TEST_F(RepackModelsTest, AModelWithTheNameOfAGraphHasItsOwnLinksOnly) {
  make(model_with_link_to("w"), model_with_link_to("v"));
  EXPECT_EQ(models_->links(entry("g.onnx")), RepackModels::Names{"v"}) << "the name of the other one is not a graph's";
}

TEST_F(RepackModelsTest, AGraphThatExpandsTooMuchIsNotRead) {
  ZipEntry graph = deflated_entry("g.onnx", zeros(3000));
  graph.in_both([](HeaderFields& header) { header.usize = 1'000'000; });
  make(model_with_link_to("w"), graph);
  EXPECT_EQ(code_of([&] { return models_->links_of(entry("g.onnx")); }), Code::zip_limit_expansion);
}

TEST_F(RepackModelsTest, AModelThatCannotBeReadIsAnError) {
  make(damaged, model_with_link_to("v"));
  EXPECT_EQ(code_of([&] { return models_->links(entry(model_entry)); }), Code::wire_truncated);
}

TEST_F(RepackModelsTest, AClashOfNamesIsRefusedAtTheModel) {
  make(model({.metadata = {string_entry("onnxar.model.name", "g")}}).take(), model_with_link_to("v"));
  EXPECT_NO_THROW(models_->prove_model_name(entry(model_entry), {}));
  const std::vector<std::string_view> names = {"G.onnx"};
  EXPECT_EQ(
      refusal_of([&] { models_->prove_model_name(entry(model_entry), names); }),
      (ErrorContext{Code::archive_graph_name, std::string(model_entry), built_.entry(model_entry).central_offset}));
}

TEST_F(RepackModelsTest, RefusesTooLargeModelAtItsHeader) {
  make(model_with_link_to("w"), damaged);
  zip::ForeignEntry large = entry(model_entry);
  large.size = 1ULL << 31U;
  EXPECT_EQ(code_of([&] { return models_->links(large); }), Code::archive_model_too_large) << "before it is read";
  EXPECT_EQ(refusal_of([&] { RepackModels::check_size(large); }),
            (ErrorContext{Code::archive_model_too_large, std::string(model_entry), large.central_offset}));
}

}  // namespace
}  // namespace onnxar::testing
