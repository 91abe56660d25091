// Further graphs when a model is saved or packed: they and their weights are kept, and their links are proved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "archive/opened.h"
#include "archive/several_graphs.h"
#include "onnxar/convert.h"
#include "onnxar/listing.h"
#include "onnxar/model_stream.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;

SaveOptions in_place_of(const std::filesystem::path& path) {
  SaveOptions save = saved_as(Format::archive, over_existing);
  save.side_files_of = path;
  return save;
}

TEST_F(GraphsTest, SavingAnotherModelKeepsGraphsAndWeights) {
  const std::filesystem::path path = several();
  const Message other = model_of({floats("w", graph_weight, 1), floats("new", graph_weight, 7)});
  EXPECT_EQ(ModelWriter().save(other.view(), path, in_place_of(path)).graphs, 1U);
  const Archive archive = Archive::open(path);
  // `w` exists already: it is not written again, and keeps its key.
  EXPECT_THAT(names_in(archive), ElementsAre("new", "w", "v", "t.json", "b.onnx", "__MODEL_PROTO"));
  expect_good(path);
  EXPECT_EQ(entries_of_graphs(archive).size(), 2U);
}

TEST_F(GraphsTest, KeyOfNewTensorDiffersFromKeptWeights) {
  const std::filesystem::path path = several();
  static_cast<void>(ModelWriter().save(model_of({floats("v", graph_weight, 9)}).view(), path, in_place_of(path)));
  EXPECT_THAT(names_in(Archive::open(path)), ElementsAre("v_2", "w", "v", "t.json", "b.onnx", "__MODEL_PROTO"));
  expect_good(path);
}

TEST_F(GraphsTest, RejectsSideGraphWhoseDataEntryIsOverridden) {
  const Message named = model_of({named_weight("w")});
  const Message naming = model_of({linked_floats("g", 1, "b.onnx")});
  const Built built = with_w(model_of({}), {zip_entry("b.onnx", named.view()), zip_entry("c.onnx", naming.view())});
  const std::filesystem::path path = folder_.write_file("naming", built.bytes);
  SaveOptions save = saved_as(Format::archive);
  save.side_files_of = path;
  save.add = {{"b.onnx", folder_.write_file("other", model_of({}).view())}};
  expect_error(error_of([&] { ModelWriter().save(model_of({}).view(), folder_ / "saved", save); }),
               {.code = Code::onnx_external_missing, .entry = "b.onnx"});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "saved"));
}

TEST_F(GraphsTest, AdvisesSideFileOnlyIfFileIsNotAGraph) {
  const auto error_of_packing = [this](ZipEntry entry) {
    const std::filesystem::path path = folder_.write_file("a", with_w(model_of({}), {std::move(entry)}).bytes);
    return error_of([&] { pack(path, folder_ / "packed", saved_as(Format::archive)); });
  };
  expect_error(error_of_packing(zip_entry("b.onnx", blob("side"))),
               {.code = Code::wire_type, .entry = "b.onnx", .hint = Hint::repack_side_file});
  ZipEntry damaged = zip_entry("b.onnx", model_of({}).view());
  damaged.in_both([](auto& header) { header.crc = 1; });
  const Error error = error_of_packing(damaged);
  expect_error(error, {.code = Code::zip_data_crc, .entry = "b.onnx"});
  EXPECT_NE(error.advice().hint, Hint::repack_side_file);
}

}  // namespace
}  // namespace onnxar::testing
