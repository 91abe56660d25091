// Edits that remove an entry: which may be removed, and the order of the others (weights, side files, graphs, the
// model).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/opened.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "support/refusal.h"
#include "support/samples.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class EditOrder : public ::testing::Test {
 protected:
  /// An editor that has removed the side file `a.txt`; `b.txt` and two graphs lie after it.
  ArchiveEditor editor(std::size_t size_of_b = 6) {
    const Blob graph = smallest_model();
    const Built built =
        built_with({zip_entry("w", pattern(1024)), zip_entry("a.txt", pattern(5)),
                    zip_entry("b.txt", pattern(size_of_b)), zip_entry("g.onnx", graph), zip_entry("h.onnx", graph)});
    ArchiveEditor open = ArchiveEditor::open(folder_.write_file("a", built.bytes), {.output = {.sync = false}});
    open.remove("a.txt");
    return open;
  }

  [[nodiscard]] std::vector<std::string> committed(ArchiveEditor open) const {
    open.commit(smallest_model(256, "edited"));
    return names_in(Archive::open(folder_ / "a"));
  }

  TempDir folder_;
};

TEST_F(EditOrder, NewEntriesComeAfterTheOthersOfTheirKind) {
  const struct {
    std::string_view name;
    std::vector<std::string> added, order;
  } rows[] = {
      {"none", {}, {"w", "b.txt", "g.onnx", "h.onnx"}},
      {"a weight and a side file", {"v", "c.txt"}, {"w", "v", "b.txt", "c.txt", "g.onnx", "h.onnx"}},
      {"side files", {"c.txt", "d.txt"}, {"w", "b.txt", "c.txt", "d.txt", "g.onnx", "h.onnx"}},
      {"graphs", {"f.onnx", "e.onnx"}, {"w", "b.txt", "g.onnx", "h.onnx", "f.onnx", "e.onnx"}},
  };
  for (auto row : rows) {
    SCOPED_TRACE(row.name);
    ArchiveEditor open = editor();
    for (const std::string& name : row.added) open.add(name, smallest_model());
    row.order.emplace_back(model_entry);
    EXPECT_EQ(committed(std::move(open)), row.order);
  }
}

TEST_F(EditOrder, RangesAndStreamsAreOrderedByKind) {
  ArchiveEditor open = editor();
  open.add("c.txt", FileRange{folder_.write_file("source", "0123456789"), 2, 5});
  EXPECT_THAT(committed(std::move(open)), ElementsAre("w", "b.txt", "c.txt", "g.onnx", "h.onnx", model_entry));
  open = editor();
  open.add("d.txt", 3, [](std::span<std::byte> buffer) { return buffer.size(); });
  EXPECT_THAT(committed(std::move(open)), ElementsAre("w", "b.txt", "d.txt", "g.onnx", "h.onnx", model_entry));
}

// The order decides where padding is, and thereby the size.
TEST_F(EditOrder, KnowsTheSizeBeforeTheCommit) {
  const Blob model = smallest_model(256, "edited");
  for (std::size_t size = 0; size < 128; ++size) {
    const Blob graph = smallest_model(256, std::string(size * 11 % 64, 'p'));
    const std::vector<std::pair<std::string, Blob>> added = {
        {"v", pattern(size)}, {"a-longer-name.txt", pattern(size * 5 % 64)}, {"an-added-graph.onnx", graph}};
    ArchiveEditor open = editor(size * 7 % 64);
    std::vector<std::pair<std::string_view, std::uint64_t>> sizes;
    for (const auto& [name, data] : std::span(added).first(size % 4)) sizes.emplace_back(name, data.size());
    const std::uint64_t expected = open.size_with(sizes, model.size());
    for (const auto& [name, data] : std::span(added).first(size % 4)) open.add(name, data);
    open.commit(model);
    EXPECT_EQ(std::filesystem::file_size(folder_ / "a"), expected) << size;
  }
}

TEST_F(EditOrder, KnowsTheSizeIfAGraphPrecedesASideFile) {
  const auto path =
      folder_.write_file("a", built_with({zip_entry("w", pattern(1024)), zip_entry("r.txt", pattern(10)),
                                          zip_entry("g.onnx", smallest_model()), zip_entry("a.txt", pattern(1000))})
                                  .bytes);
  const Blob model = smallest_model(256, "edited");
  ArchiveEditor open = ArchiveEditor::open(path, {.output = {.sync = false}});
  open.remove("r.txt");
  const std::uint64_t expected = open.size_with({}, model.size());
  open.commit(model);
  EXPECT_EQ(std::filesystem::file_size(path), expected);
  EXPECT_THAT(names_in(Archive::open(path)), ElementsAre("w", "a.txt", "g.onnx", model_entry));
}

// --- what may be removed ---------------------------------------------------------------------------------------------

/// Expects this refusal, and words in the message; no editor is left.
void expect_not_removed(ArchiveEditor open, std::string_view name, Code code, std::string_view words) {
  const auto error = error_if_any([&] { open.remove(name); });
  ASSERT_TRUE(error) << name;
  EXPECT_EQ(error->code(), code);
  EXPECT_EQ(error->entry(), name);
  EXPECT_THAT(error->what(), HasSubstr(words));
}

TEST_F(EditOrder, RefusesToRemoveTheModelOrMissingEntries) {
  expect_not_removed(editor(), "a.txt.", Code::usage_no_such_entry, "no such entry");
  expect_not_removed(editor(), model_entry, Code::usage_argument, "the end of the edit replaces it");
  ArchiveEditor open = editor();
  open.add("c.txt", pattern(7));
  expect_not_removed(std::move(open), "b.txt", Code::usage_argument, "before space is reserved");
  open = editor();
  open.reserve(100000);  // opens the file, with the entries that stay
  expect_not_removed(std::move(open), "b.txt", Code::usage_argument, "before space is reserved");
}

TEST_F(EditOrder, WeightsAreRemovedOnlyAfterAllThatAreUsed) {
  const Built built = built_with({zip_entry("unused", pattern(8)), zip_entry("w", pattern(1024)),
                                  zip_entry("spare", pattern(9)), zip_entry("b.txt", pattern(6))});
  const auto path = folder_.write_file("a", built.bytes);
  const auto opened = [&] { return ArchiveEditor::open(path, {.output = {.sync = false}}); };
  expect_not_removed(opened(), "w", Code::usage_argument, "a tensor of the model or of a graph uses it");
  expect_not_removed(opened(), "unused", Code::usage_argument, "the weight \"w\" lies after it");
  ArchiveEditor open = opened();
  open.remove("spare");
  EXPECT_THAT(committed(std::move(open)), ElementsAre("unused", "w", "b.txt", model_entry));
}

TEST_F(EditOrder, NothingIsRemovedBesideAGraphThatCannotBeRead) {
  const Built built =
      built_with({zip_entry("w", pattern(1024)), zip_entry("b.txt", pattern(6)), zip_entry("bad.onnx", blob("\xff"))});
  const auto path = folder_.write_file("a", built.bytes);
  const auto opened = [&] { return ArchiveEditor::open(path, {.output = {.sync = false}}); };
  expect_not_removed(opened(), "b.txt", Code::usage_argument, "the graph \"bad.onnx\"");
  ArchiveEditor open = opened();
  open.remove("bad.onnx");
  open.remove("b.txt");
  EXPECT_THAT(committed(std::move(open)), ElementsAre("w", model_entry));
}

TEST_F(EditOrder, GraphsThatCannotBeReadGoTogether) {
  const Built built = built_with({zip_entry("w", pattern(1024)), zip_entry("b.txt", pattern(6)),
                                  zip_entry("bad.onnx", blob("\xff")), zip_entry("worse.onnx", blob("\xfe"))});
  const auto path = folder_.write_file("a", built.bytes);
  const auto without = [&](const std::vector<std::string_view>& names) {
    ArchiveEditor open = ArchiveEditor::open(path, {.output = {.sync = false}});
    for (const std::string_view name : names) open.remove(name);
    return open;
  };
  const auto size = [&](std::string_view name) { return without({name}).size_with({}, 10); };
  EXPECT_EQ(code_of([&] { return size("bad.onnx"); }), Code::usage_argument) << "the other one may name it";
  EXPECT_EQ(code_of([&] { without({"worse.onnx"}).commit(smallest_model()); }), Code::usage_argument);
  EXPECT_EQ(code_of([&] { without({"worse.onnx"}).add("c.txt", Bytes()); }), Code::usage_argument);
  EXPECT_EQ(code_of([&] { without({"worse.onnx"}).reserve(10); }), Code::usage_argument);
  EXPECT_EQ(folder_.read_file("a"), built.bytes);
  EXPECT_THAT(committed(without({"worse.onnx", "bad.onnx", "b.txt"})), ElementsAre("w", model_entry));
}

TEST_F(EditOrder, AddsGraphsAfterSideFiles) {
  const Blob other = smallest_model(256, "other");
  ArchiveEditor open = editor();
  open.add("v", pattern(1024));
  open.add_graph("f", smallest_model());
  open.add_graph("e.onnx", SpanSource(other));
  EXPECT_THAT(committed(std::move(open)),
              ElementsAre("w", "v", "b.txt", "g.onnx", "h.onnx", "f.onnx", "e.onnx", model_entry));
}

TEST_F(EditOrder, AddsGraphBesideOneThatUsesTheModel) {
  const Blob user = model_of({linked_floats("t", 1, model_entry)}).take();
  const auto path =
      folder_.write_file("a", built_with({zip_entry("w", pattern(1024)), zip_entry("g.onnx", user)}).bytes);
  ArchiveEditor open = ArchiveEditor::open(path, {.output = {.sync = false}});
  open.add_graph("h", smallest_model(256, "other"));
  open.commit(smallest_model());
  EXPECT_THAT(names_in(Archive::open(path)), ElementsAre("w", "g.onnx", "h.onnx", model_entry));
}

TEST_F(EditOrder, ReplacesAGraphThatWasRemoved) {
  const Blob other = smallest_model(256, "other");
  ArchiveEditor open = editor();
  open.remove("g.onnx");
  open.add_graph("g", other);
  EXPECT_THAT(committed(std::move(open)), ElementsAre("w", "b.txt", "h.onnx", "g.onnx", model_entry));
  const Archive archive = Archive::open(folder_ / "a");
  EXPECT_EQ(copy_of(archive.bytes(archive.find("g.onnx").value())), other);
}

TEST_F(EditOrder, RefusesGraphsThatNoReaderTakes) {
  const auto refusal_of_graph = [&](std::string_view name, const Blob& graph) {
    return code_of([&] {
      ArchiveEditor open = editor();
      open.add_graph(name, graph);
      open.commit(smallest_model());
    });
  };
  EXPECT_EQ(refusal_of_graph("g", smallest_model()), Code::zip_name_duplicate);
  EXPECT_EQ(refusal_of_graph("", smallest_model()), Code::usage_argument);
  EXPECT_EQ(refusal_of_graph("x/", smallest_model()), Code::usage_argument);
  EXPECT_EQ(refusal_of_graph("x/y", smallest_model()), std::nullopt);
  EXPECT_EQ(refusal_of_graph("__Meta", smallest_model()), Code::archive_name_reserved);
  EXPECT_EQ(refusal_of_graph("bad", blob("\xff")), Code::wire_truncated);
  EXPECT_EQ(refusal_of_graph("f", smallest_model(4096)), Code::onnx_external_out_of_range)
      << "its link leaves the entry";
}

TEST_F(EditOrder, AModelThatDoesNotFitTheWeightsIsNotCommitted) {
  const Blob bytes = smallest_archive().bytes;
  const auto path = folder_.write_file("a", bytes);
  EXPECT_TRUE(
      error_if_any([&] { ArchiveEditor::open(path, {.output = {.sync = false}}).commit(smallest_model(512)); }));
  EXPECT_EQ(folder_.read_file("a"), bytes);
}

}  // namespace
}  // namespace onnxar::testing
