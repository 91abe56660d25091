// Further graphs of an archive: their names, which proofs writers make, and which entries an editor removes.
#include "archive/graphs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "archive/opened.h"
#include "archive/several_graphs.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "onnxar/listing.h"
#include "onnxar/tensors.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;

std::vector<EntryKind> kinds_of(const Archive& archive) {
  std::vector<EntryKind> kinds;
  for (const ListedEntry& entry : ls(archive).entries) kinds.push_back(entry.kind);
  return kinds;
}

TEST_F(GraphsTest, KindsCountTheTensorsOfAllGraphs) {
  const Archive archive = Archive::open(several());
  EXPECT_THAT(kinds_of(archive),
              ElementsAre(EntryKind::weight, EntryKind::weight, EntryKind::side_file, EntryKind::graph));
  ASSERT_EQ(archive.graphs().size(), 1U);
  EXPECT_EQ(archive.graphs().front().name, "b.onnx");
  EXPECT_EQ(entries_of_graphs(archive).size(), 2U);
  EXPECT_EQ(side_files(archive).size(), 1U);
}

std::vector<std::string> tensor_names(const Archive& archive) {
  std::vector<std::string> names;
  for (const StoredTensor& tensor : tensors(archive)) names.push_back(tensor.name);
  return names;
}

TEST_F(GraphsTest, ASideFileWithoutStemIsNoGraph) {
  const Archive archive = opened(built_with({zip_entry("a/.onnx", smallest_model())}).bytes);
  EXPECT_EQ(code_of([&] { return archive.graph("a/.onnx").size(); }), Code::usage_no_such_entry);
}

TEST_F(GraphsTest, AGraphIsTheModelOfItsArchive) {
  const Archive archive = Archive::open(several());
  const Archive graph = archive.graph("b");
  EXPECT_EQ(graph.model_entry().name, "b.onnx");
  EXPECT_EQ(archive.model_entry().name, model_entry_name);
  EXPECT_THAT(tensor_names(archive), ElementsAre("w"));
  EXPECT_THAT(tensor_names(graph), ElementsAre("w", "v"));
  EXPECT_EQ(graph.model().data(), archive.bytes(*archive.find("b.onnx")).data());
  EXPECT_EQ(graph.owner(), archive.owner());
  const TensorIndex index(graph);
  const ByteSpan data = tensor_data(graph, *index.find("v"));
  EXPECT_EQ(data.bytes().data(), archive.bytes(*archive.find("v")).data());
  EXPECT_EQ(entries_of_graphs(graph).size(), 2U) << "those of all graphs, from every view";
}

TEST_F(GraphsTest, AGraphOutlivesTheArchiveItIsOf) {
  auto archive = std::make_unique<const Archive>(Archive::open(several()));
  const Archive graph = archive->graph("b.onnx");
  archive.reset();
  EXPECT_THAT(tensor_names(graph), ElementsAre("w", "v"));
  const Archive whole = graph.graph("__MODEL_PROTO");
  EXPECT_EQ(whole.model_entry().name, model_entry_name);
}

TEST_F(GraphsTest, RefusesMissingGraphAndListsTheOthers) {
  const Archive archive = Archive::open(several());
  for (const std::string name : {"c", "w", "t.json", "B", "b.onnx.onnx"}) {
    expect_error(error_of([&] { static_cast<void>(archive.graph(name)); }),
                 {.code = Code::usage_no_such_entry, .entry = name, .says = {"it has the model, \"b\""}});
  }
}

TEST_F(GraphsTest, ModelIsFoundByItsOwnName) {
  const Message named = model({.graph = graph({}), .metadata = {string_entry("onnxar.model.name", "a")}});
  const auto path = folder_.write_file("named", archive_of(named, {zip_entry("b.onnx", model_of({}).view())}).bytes);
  const Archive archive = Archive::open(path);
  for (const std::string name : {"", "a", "a.onnx", "__MODEL_PROTO"}) {
    const Archive same = archive.graph(name);
    EXPECT_EQ(same.model_entry().name, model_entry_name) << name;
  }
  EXPECT_EQ(archive.graphs().size(), 1U);
}

TEST_F(GraphsTest, NamesThatEndInTheSuffixTwiceMayLackIt) {
  const Message named = model({.graph = graph({}), .metadata = {string_entry("onnxar.model.name", "a.onnx")}});
  std::vector<ZipEntry> graphs;
  for (const auto* name : {"b.onnx", "b.onnx.onnx", "c.onnx.onnx"}) {
    graphs.push_back(zip_entry(name, model_of({}).view()));
  }
  const auto path = folder_.write_file("named", archive_of(named, std::move(graphs)).bytes);
  const Archive archive = Archive::open(path);
  for (const auto& [name, entry] : std::vector<std::pair<std::string, std::string>>{{"b", "b.onnx"},
                                                                                    {"b.onnx", "b.onnx"},
                                                                                    {"b.onnx.onnx", "b.onnx.onnx"},
                                                                                    {"c.onnx", "c.onnx.onnx"},
                                                                                    {"a.onnx", "__MODEL_PROTO"},
                                                                                    {"a.onnx.onnx", "__MODEL_PROTO"}}) {
    const Archive found = archive.graph(name);
    EXPECT_EQ(found.model_entry().name, entry) << name;
  }
  EXPECT_EQ(code_of([&] { static_cast<void>(archive.graph("c")); }), Code::usage_no_such_entry);
}

TEST_F(GraphsTest, WriterProvesAGraphThatWasAdded) {
  expect_error(error_of([this] {
                 ArchiveWriter archive = writer();
                 archive.add("b.onnx", model_of({named_weight("nowhere")}).view());
                 archive.finish(model_of({}).view());
               }),
               {.code = Code::onnx_external_missing, .entry = "b.onnx", .says = {"b.onnx.bin"}});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "written"));
}

TEST_F(GraphsTest, WriterAddsAGraphByItsName) {
  const Message graph = model_of({named_weight("w")});
  {
    ArchiveWriter archive = writer();
    archive.add("w", pattern(4 * graph_weight, 1));
    archive.add_graph("b", graph.view());
    archive.add_graph("c.onnx", SpanSource(graph.view()));
    archive.finish(model_of({}).view());
  }
  const Archive archive = Archive::open(folder_ / "written");
  EXPECT_THAT(names_in(archive), ElementsAre("w", "b.onnx", "c.onnx", "__MODEL_PROTO"));
  EXPECT_THAT(tensor_names(archive.graph("c")), ElementsAre("w"));
  expect_good(folder_ / "written");
}

TEST_F(GraphsTest, WriterRefusesInvalidGraphNameAndFails) {
  const std::pair<std::string, Code> names[] = {{"", Code::usage_argument},
                                                {".onnx", Code::usage_argument},
                                                {"a/", Code::usage_argument},
                                                {"a/.onnx", Code::usage_argument},
                                                {"x\\y", Code::zip_name_character},
                                                {"con", Code::zip_name_device},
                                                {"__MODEL_PROTO", Code::archive_name_reserved}};
  for (const auto& [name, code] : names) {
    ArchiveWriter archive = writer();
    EXPECT_EQ(error_of([&] { archive.add_graph(name, model_of({}).view()); }).code(), code) << name;
    EXPECT_EQ(error_of([&] { archive.finish(model_of({}).view()); }).code(), Code::usage_writer_failed) << name;
  }
  ArchiveWriter archive = writer();
  expect_error(error_of([&] { archive.add_graph("a/", model_of({}).view()); }),
               {.code = Code::usage_argument, .entry = "a/", .path = folder_ / "written"});
}

TEST_F(GraphsTest, WriterRefusesTheModelsNameWhereAGraphHasIt) {
  const Message model_b = model({.graph = graph({}), .metadata = {string_entry("onnxar.model.name", "b")}});
  const Error error = error_of([&] {
    ArchiveWriter archive = writer();
    archive.add("b.onnx", model_of({}).view());
    archive.finish(model_b.view());
  });
  EXPECT_EQ(error.code(), Code::archive_graph_name);
}

TEST_F(GraphsTest, EditorReplacesASideFileAndWhatFollows) {
  const std::filesystem::path path = several();
  {
    ArchiveEditor editor = ArchiveEditor::open(path, unsynced());
    EXPECT_EQ(editor.kept_entries(), 4U);
    editor.remove("t.json");
    EXPECT_EQ(editor.kept_entries(), 2U);
    editor.add("x", pattern(4 * graph_weight, 3));
    editor.add("t.json", pattern(9));
    editor.commit(model_of({named_weight("w"), named_weight("x")}).view());
  }
  const Archive archive = Archive::open(path);
  EXPECT_THAT(names_in(archive), ElementsAre("w", "v", "x", "t.json", "b.onnx", "__MODEL_PROTO"));
  expect_good(path);
}

TEST_F(GraphsTest, EditorRefusesToRemoveAWeightOfAGraph) {
  const std::filesystem::path path = several();
  {
    ArchiveEditor editor = ArchiveEditor::open(path, unsynced());
    EXPECT_EQ(error_of([&] { editor.remove("v"); }).code(), Code::usage_argument);
    EXPECT_EQ(error_of([&] { editor.commit(model_of({}).view()); }).code(), Code::usage_writer_failed);
  }
  expect_good(path);
}

TEST_F(GraphsTest, NewModelMayNotNameWhatAnEditMoves) {
  const std::filesystem::path path = several();
  ArchiveEditor editor = ArchiveEditor::open(path, unsynced());
  editor.remove("t.json");
  expect_error(error_of([&] { editor.commit(model_of({linked_floats("g", 1, "b.onnx")}).view()); }),
               {.code = Code::usage_argument, .entry = "b.onnx"});
}

// A tensor of the graph lies in the bytes of the model.
TEST_F(GraphsTest, RefusesToReplaceModelThatAGraphNames) {
  const Message model_bytes = model_of({named_weight("w")});
  const Message graph = model_of({linked_floats("m", 1, "__MODEL_PROTO")});
  const std::filesystem::path path =
      folder_.write_file("named", with_w(model_bytes, {zip_entry("b.onnx", graph.view())}).bytes);
  {
    ArchiveEditor editor = ArchiveEditor::open(path, unsynced());
    expect_error(error_of([&] { editor.commit(model_of({}).view()); }),
                 {.code = Code::usage_argument, .entry = "b.onnx"});
  }
  {
    ArchiveEditor editor = ArchiveEditor::open(path, unsynced());
    editor.add("t.json", pattern(5));
    editor.commit(model_bytes.view());
  }
  expect_good(path);
  ArchiveEditor editor = ArchiveEditor::open(path, unsynced());
  editor.remove("b.onnx");
  editor.commit(model_of({}).view());
  expect_good(path);
}

// Neither `verify_model`, nor a model with the same CRC-32 changes that.
TEST_F(GraphsTest, NeverReplacesModelThatAGraphNames) {
  const Message naming = graph({.initializers = {linked_floats("m", 1, "__MODEL_PROTO")}});
  const Built built = with_w(model_of({named_weight("w"), floats("inside", 100, 3)}),
                             {zip_entry("b.onnx", model({.graph = subgraph_of_depth(5, naming)}).view())});
  const std::filesystem::path path = folder_.write_file("named", built.bytes);
  const auto refusal = [](const auto& action) {
    const Error error = error_of(action);
    return std::pair(error.code(), error.entry());
  };
  const std::pair refused(Code::usage_argument, std::string("b.onnx"));
  const EditOptions unverified = {.output = {.sync = false}, .verify_model = false};
  EXPECT_EQ(refusal([&] { ArchiveEditor::open(path, unverified).commit(model_of({}).view()); }), refused);
  const auto other = folder_.write_file("other", model_of({}).view());
  EXPECT_EQ(refusal([&] { replace(path, other, unsynced_edit()); }), refused);
  EXPECT_EQ(folder_.read_file("named"), built.bytes);
  // A model with the size and CRC-32 of the old one, whose bytes are others.
  const Blob old = built.data_of(model_entry);
  const Blob same_crc = with_the_same_crc(old, old.size() - 100);
  ASSERT_NE(same_crc, old);
  EXPECT_EQ(refusal([&] { ArchiveEditor::open(path, unsynced()).commit(same_crc); }), refused);
}

TEST_F(GraphsTest, EveryEditOfARunCanBeUndone) {
  const std::filesystem::path path = several();
  const auto first = std::filesystem::file_size(path);
  for (const char* name : {"t.json", "b.onnx"}) {
    ArchiveEditor editor = ArchiveEditor::open(path, unsynced());
    editor.remove(name);
    editor.commit(model_of({named_weight("w")}).view());
  }
  EXPECT_THAT(names_in(Archive::open(path)), ElementsAre("w", "v", "__MODEL_PROTO"));
  expect_good(path);
  static_cast<void>(undo(path, {false, false}));
  EXPECT_THAT(names_in(Archive::open(path)), ElementsAre("w", "v", "b.onnx", "__MODEL_PROTO"));
  static_cast<void>(undo(path, {false, false}));
  EXPECT_EQ(std::filesystem::file_size(path), first);
  expect_good(path);
}

TEST(WalkAsFarAsRead, StopsWithoutAnErrorAtFaultOfTheGraph) {
  const Blob torn = model_of({floats("w", 4)}).raw(blob("\xff")).take();
  const Archive archive = opened(built_with({zip_entry("torn.onnx", torn)}).bytes);
  std::size_t tensors = 0;
  const auto count = [&tensors](const onnx::TensorSite&) { ++tensors; };
  EXPECT_FALSE(walk_as_far_as_read(archive, *archive.find("torn.onnx"), count));
  EXPECT_EQ(tensors, 1U);
  EXPECT_TRUE(walk_as_far_as_read(archive, archive.model_entry(), count));
}

TEST(WalkAsFarAsRead, PassesErrorsThatAreNotOfTheFormat) {
  const Archive archive = opened(smallest_archive().bytes);
  const auto fail = [](const onnx::TensorSite&) { throw Error(Code::io_failed, "cannot read"); };
  EXPECT_EQ(code_of([&] { return walk_as_far_as_read(archive, archive.model_entry(), fail); }), Code::io_failed);
}

TEST(FileOfGraph, IsTheEntryOrTheNameOfTheModel) {
  const auto archive_of_model = [](const Messages& metadata) {
    const Message main = model({.graph = graph({}), .metadata = metadata});
    return opened(archive_of(main, {zip_entry("g.onnx", smallest_model())}).bytes);
  };
  const Archive unnamed = archive_of_model({});
  EXPECT_EQ(file_of_graph(unnamed, *unnamed.find("g.onnx")), "g.onnx");
  EXPECT_EQ(file_of_graph(unnamed, unnamed.model_entry()), std::nullopt);
  const Archive named = archive_of_model({string_entry("onnxar.model.name", "encoder")});
  EXPECT_EQ(file_of_graph(named, named.model_entry()), "encoder.onnx");
}

}  // namespace
}  // namespace onnxar::testing
