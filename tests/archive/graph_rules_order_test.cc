// The order of entries (W13): a writer refuses what no edit could replace or remove later.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::HasSubstr;
using NameViews = std::vector<std::string_view>;

class WritingOrder : public ::testing::Test {
 protected:
  /// The error of writing entries in this order, and then a model with a tensor in each of `used`; graphs are empty.
  std::optional<Error> refusal(const NameViews& names, const NameViews& used, bool verify = true) {
    const WriterOptions options = {.output = {.overwrite = true, .sync = false}, .verify_model = verify};
    return error_if_any([&] {
      ArchiveWriter writer = ArchiveWriter::create(folder_ / "a", options);
      add_all(writer, names);
      writer.finish(model(used));
    });
  }
  template <typename Writer>
  static void add_all(Writer& writer, const NameViews& names) {
    for (const std::string_view name : names) writer.add(name, name.ends_with(".onnx") ? model({}) : pattern(16));
  }
  static Blob model(const NameViews& used) {
    Messages tensors;
    for (const std::string_view name : used) tensors.push_back(linked_floats(name, 4, name));
    const Message made = model_of(tensors);
    return {made.view().begin(), made.view().end()};
  }
  static void expect_refused(const std::optional<Error>& error, std::string_view entry, std::string_view words) {
    ASSERT_TRUE(error) << entry;
    EXPECT_EQ(error->code(), Code::usage_argument);
    EXPECT_EQ(error->entry(), entry);
    EXPECT_THAT(error->what(), HasSubstr(words));
  }

  TempDir folder_;
};

TEST_F(WritingOrder, RefusesEntryAfterGraphAtOnce) {
  for (const std::string_view late : {"w", "tok.json", "a/b.txt"}) {
    ArchiveWriter writer = ArchiveWriter::create(folder_ / "a", {.output = {.overwrite = true, .sync = false}});
    writer.add_graph("g", model({}));
    writer.add("h.onnx", model({}));
    expect_refused(error_if_any([&] { writer.add(late, pattern(16)); }), late, "after the graph \"h.onnx\"");
  }
}

TEST_F(WritingOrder, RefusesSideFileBeforeWeight) {
  expect_refused(refusal({"tok.json", "w"}, {"w"}), "tok.json", "before the weight \"w\"");
  expect_refused(refusal({"v.0", "tok.json", "w.0"}, {"v.0", "w.0"}), "tok.json", "before the weight \"w.0\"");
  expect_refused(refusal({"tok.json", "vocab.txt", "w"}, {"w"}), "tok.json", "before the weight \"w\"");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a"));
}

TEST_F(WritingOrder, FindsWeightsOfGraphs) {
  ArchiveWriter writer = ArchiveWriter::create(folder_ / "a", {.output = {.sync = false}});
  add_all(writer, {"tok.json", "w"});
  writer.add_graph("g", model({"w"}));
  expect_refused(error_if_any([&] { writer.finish(model({})); }), "tok.json", "before the weight \"w\"");
}

TEST_F(WritingOrder, AcceptsWeightsOfAnyName) {
  EXPECT_FALSE(refusal({"layer.0", "w", "layer.1", "tok.json", "vocab.txt", "g.onnx"}, {"layer.0", "w", "layer.1"}));
  EXPECT_FALSE(refusal({"w", "tok.json", "unused"}, {"w"})) << "an unused key is not a weight";
  EXPECT_FALSE(refusal({"tok.json", "vocab.txt", "g.onnx"}, {"g.onnx"})) << "a graph stays one if a tensor is in it";
  EXPECT_FALSE(refusal({"v.bin", "unused", "w.bin"}, {"v.bin", "w.bin"})) << "nor is it a side file";
  EXPECT_FALSE(refusal({"tok.json", "w"}, {"w"}, false)) << "the caller knows the model";
}

TEST_F(WritingOrder, AcceptedArchiveCanBeEdited) {
  ASSERT_FALSE(refusal({"w", "tok.json", "g.onnx"}, {"w"}));
  ArchiveEditor editor = ArchiveEditor::open(folder_ / "a", {.output = {.sync = false}});
  editor.remove("tok.json");
  editor.remove("g.onnx");
  editor.commit(model({"w"}));
}

TEST_F(WritingOrder, EditHasTheSameOrder) {
  ASSERT_FALSE(refusal({"w", "tok.json"}, {"w"}));
  const auto edit = [&](const NameViews& names, const NameViews& used) {
    return error_if_any([&] {
      ArchiveEditor editor = ArchiveEditor::open(folder_ / "a", {.output = {.sync = false}});
      add_all(editor, names);
      editor.commit(model(used));
    });
  };
  expect_refused(edit({"g.onnx", "v"}, {"w"}), "v", "after the graph");
  expect_refused(edit({"vocab.txt", "v"}, {"w", "v"}), "vocab.txt", "before the weight \"v\"");
  EXPECT_FALSE(edit({"v", "vocab.txt", "g.onnx"}, {"w", "v"})) << "entries that were there before do not count";
}

TEST_F(WritingOrder, EditProvesNamesBeforeItWrites) {
  ASSERT_FALSE(refusal({"w", "tok.json", "folder/x.txt"}, {"w"}));
  const auto code = [&](std::string_view name) {
    const ArchiveEditor editor = ArchiveEditor::open(folder_ / "a", {.output = {.dry_run = true}});
    const std::vector<std::pair<std::string_view, std::uint64_t>> added = {{"new.txt", 1}, {name, 1}};
    return code_of([&] { return editor.size_with(added, 10); });
  };
  EXPECT_EQ(code("other.txt"), std::nullopt);
  EXPECT_EQ(code("TOK.json"), Code::zip_name_folded);
  EXPECT_EQ(code("new.txt"), Code::zip_name_duplicate) << "also against other new names";
  EXPECT_EQ(code("tok.json/x"), Code::zip_name_prefix);
  EXPECT_EQ(code("folder"), Code::zip_name_prefix);
  EXPECT_EQ(code("__model_proto/x"), Code::zip_name_prefix) << "the model comes last";
  EXPECT_EQ(code("../x"), Code::zip_name_part);
  EXPECT_EQ(code("__Reserved"), Code::archive_name_reserved);
}

}  // namespace
}  // namespace onnxar::testing
