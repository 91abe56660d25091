// Data of names that a graph defines more than once stays inside or outside the model, in every verb, with a warning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "archive/opened.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/convert.h"
#include "onnxar/link.h"
#include "onnxar/model_stream.h"
#include "support/refusal.h"
#include "support/samples.h"
#include "support/sources.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Strings = std::vector<std::string>;

constexpr std::size_t elements = 300;  // of floats in each tensor
const std::string duplicate = "warning onnx.graph.duplicate";

/// `in` or `out` for each tensor of a model, in wire order.
Strings places(Bytes model) {
  Strings all;
  onnx::walk_tensors(model,
                     [&](const onnx::TensorSite& site) { all.emplace_back(site.tensor.is_external() ? "out" : "in"); });
  return all;
}

class DuplicatesTest : public ::testing::Test {
 protected:
  /// A file with `w` in the model, then `w` and `alone` outside it.
  void SetUp() override { folder_.write_file("w.bin", pattern(4 * elements)); }
  [[nodiscard]] static Message mixed(std::string_view location = "w.bin") {
    return model_of({floats("w", elements), linked_floats("w", elements, location), floats("alone", elements)});
  }
  [[nodiscard]] fs::path written(const Message& model) const { return folder_.write_file("m.onnx", model.view()); }
  [[nodiscard]] fs::path packed(const SaveOptions& options = saved_as(Format::archive)) const {
    const fs::path archive = folder_ / "a.onnxar";
    report_ = pack(written(mixed()), archive, options);
    return archive;
  }
  [[nodiscard]] static Strings places_in(const fs::path& archive) {
    const Archive opened = Archive::open(archive);
    return places(opened.model());
  }

  TempDir folder_;
  mutable ConvertReport report_;
};

TEST_F(DuplicatesTest, PackLeavesThemWhereTheyAre) {
  EXPECT_THAT(places_in(packed()), ElementsAre("in", "out", "out"));
  ASSERT_THAT(ids_of(report_.remarks), ElementsAre(duplicate, duplicate));
  EXPECT_THAT(report_.remarks[0].message,
              HasSubstr("\"w\" (graph.initializer[0]): its graph defines this name more than"));
  EXPECT_EQ(report_.remarks[1].place.offset, place_in(mixed().view(), linked_floats("w", elements, "w.bin")));
}

TEST_F(DuplicatesTest, NoThresholdMovesThem) {
  SaveOptions options = saved_as(Format::archive);
  options.threshold = 1U << 20U;
  options.subgraphs = options.attributes = false;
  EXPECT_THAT(places_in(packed(options)), ElementsAre("in", "out", "in"));
}

TEST_F(DuplicatesTest, UnpackRefusesToMoveThemIntoTheModel) {
  expect_refused(folder_, packed(), saved_as(Format::onnx_inline), Code::onnx_graph_duplicate, "", {});
}

TEST_F(DuplicatesTest, UnpackKeepsThemInDataFiles) {
  const fs::path output = folder_ / "out.onnx";
  SaveOptions options = saved_as(Format::onnx_external);
  options.data_file = "out.bin";
  unpack(packed(), output, options);
  EXPECT_THAT(places(folder_.read_file("out.onnx")), ElementsAre("in", "out", "out"));
}

TEST_F(DuplicatesTest, ReplaceLeavesThemWhereTheyAre) {
  const fs::path archive = packed();
  const Message model =
      model_of({floats("w", elements, 7), linked_floats("w", elements, "w"), floats("alone", elements, 5)});
  ReplaceOptions options = unsynced_edit();
  options.threshold = 1U << 20U;
  const ReplaceReport report = onnxar::replace(archive, written(model), options);
  EXPECT_THAT(places_in(archive), ElementsAre("in", "out", "in"));
  EXPECT_THAT(ids_of(report.remarks), ElementsAre(duplicate, duplicate));
  options.append_external = true;  // the data of `alone` has an entry, and that of `w` has none
  folder_.write_file("w.bin", pattern(4 * elements, 9));
  onnxar::replace(archive, written(mixed()), options);
  EXPECT_THAT(places_in(archive), ElementsAre("in", "out", "out"));
}

TEST_F(DuplicatesTest, LinkWarnsOfThem) {
  const fs::path archive = packed();
  const Link link = make_link(archive);
  EXPECT_THAT(places(link.model), ElementsAre("in", "out", "out"));
  EXPECT_THAT(ids_of(link.remarks), ElementsAre(duplicate, duplicate));
  EXPECT_THAT(ids_of(onnxar::link(archive, folder_ / "l.onnx", {.output = unsynced_output}).remarks),
              ElementsAre(duplicate, duplicate));
}

TEST_F(DuplicatesTest, RuntimeModelRefusesThem) {
  const Error error = error_of([&] { static_cast<void>(make_runtime_model(Archive::open(packed()))); });
  expect_error(error, Code::onnx_graph_duplicate, "", {});
  EXPECT_EQ(error.advice().hint, Hint::use_link);
}

TEST_F(DuplicatesTest, RuntimeModelTakesThoseInsideTheModel) {
  const Message model = model_of({floats("w", elements), floats("w", elements, 2)});
  EXPECT_EQ(make_runtime_model(opened(archive_of(model).bytes)).model, model.view());
}

TEST_F(DuplicatesTest, ModelReaderRefusesThem) {
  const Error error = error_of([&] { const ModelReader reader(Archive::open(packed())); });
  expect_error(error, Code::onnx_graph_duplicate, "", {});
  EXPECT_EQ(error.path(), folder_ / "a.onnxar");
}

TEST_F(DuplicatesTest, ModelWriterPutsThemIntoTheModel) {
  ModelWriter writer;
  const Blob data = pattern(4 * elements, 3);
  const std::string location = writer.add(std::make_shared<SpanSource>(data));
  const Message model = model_of({linked_floats("w", elements, location, 0), linked_floats("w", elements, "w.bin")});
  LoadOptions load;
  load.external_data_dir = folder_.path();
  const ConvertReport report = writer.save(model.view(), folder_ / "s.onnxar", saved_as(Format::archive), load);
  EXPECT_THAT(places_in(folder_ / "s.onnxar"), ElementsAre("in", "out"));
  ASSERT_THAT(ids_of(report.remarks), ElementsAre(duplicate, duplicate));
  EXPECT_THAT(report.remarks[0].message, HasSubstr("its data stays in the model"));
  const fs::path archive = packed();
  const Message edited = model_of({linked_floats("w", elements, location, 0), floats("w", elements)});
  writer.replace(archive, edited.view(), unsynced_edit(), load);
  EXPECT_THAT(places_in(archive), ElementsAre("in", "in"));
}

TEST_F(DuplicatesTest, EmptyOnesMayMove) {
  const Message none = tensor("w", dtype::float32, {0}).external("w.bin", 0, 0);
  pack(written(model_of({none, none})), folder_ / "e.onnxar", saved_as(Format::archive));
  EXPECT_THAT(places_in(folder_ / "e.onnxar"), ElementsAre("in", "in"));
}

TEST_F(DuplicatesTest, GraphsOfAnArchiveHaveNamesOfTheirOwn) {
  const Message graph = model_of({linked_floats("w", elements, "w")});
  const fs::path archive = folder_.write_file(
      "g.onnxar", archive_of(model_of({floats("w", elements, 2)}),
                             {zip_entry("w", pattern(4 * elements)), zip_entry("g.onnx", graph.view())})
                      .bytes);
  EXPECT_THAT(ids_of(pack(archive, folder_ / "h.onnxar", saved_as(Format::archive)).remarks), IsEmpty());
}

TEST_F(DuplicatesTest, CheckReportsEachRepetition) {
  const Message again = constant("w", floats("v", 1)), twice = node("Op", {}, {"y", "y"}, {});
  const Message proto =
      model({.graph = graph({.nodes = {twice, again}, .initializers = {floats("w", 1), floats("v", 1)}})});
  const std::vector<Finding> findings = check(written(proto));
  ASSERT_THAT(ids_of(findings), ElementsAre(duplicate, duplicate));
  EXPECT_EQ(findings[0].place.offset, place_in(proto.view(), twice));
  EXPECT_EQ(findings[1].place.offset, place_in(proto.view(), floats("w", 1)));
  EXPECT_THAT(findings[1].message, HasSubstr("graph.initializer[0] defines the name \"w\""));
}

TEST_F(DuplicatesTest, CheckLooksIntoFurtherGraphs) {
  const Message graph = model_of({floats("w", 1), floats("w", 1)});
  const fs::path archive =
      folder_.write_file("g.onnxar", archive_of(model_of({}), {zip_entry("g.onnx", graph.view())}).bytes);
  const std::vector<Finding> findings = check(archive);
  ASSERT_THAT(ids_of(findings), ElementsAre(duplicate));
  EXPECT_EQ(findings[0].place.entry, "g.onnx");
}

}  // namespace
}  // namespace onnxar::testing
