// Edits of damaged archives: no byte that is wrong gets a new CRC-32.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "archive/front_end.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "onnxar/model_stream.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

class DamagedEditTest : public ::testing::Test {
 protected:
  /// A weight, two side files, and a graph before the model; one bit of `entry` is flipped, `at` bytes from its end.
  void damage(std::string_view entry, std::size_t at) {
    const Message weight = linked_floats("w", 300, "w");
    built_ =
        archive_of(model_of({weight, floats("small", 5, 1)}),
                   {zip_entry("w", pattern(1200)), zip_entry("a.json", blob("{}")), zip_entry("b.json", pattern(9)),
                    zip_entry("g.onnx", model_of({weight, floats("small", 5, 2)}).view())});
    flip_bit(built_.bytes, built_.entry(entry).data_offset + built_.data_of(entry).size() - at);
    path_ = folder_.write_file("a.onnxar", built_.bytes);
  }
  /// Expects that the action is refused for the damage, in a dry run too, and changes nothing.
  template <typename Action>
  void expect_refused(std::string_view entry, const Action& action) {
    for (const OutputOptions& output : {dry_output, unsynced_output}) {
      expect_error(error_of([&] { action(output); }), {.code = Code::zip_data_crc, .entry = entry, .path = path_});
      EXPECT_EQ(folder_.read_file("a.onnxar"), built_.bytes);
    }
  }
  static std::size_t at_model(const std::filesystem::path& path) {
    const Archive archive = Archive::open(path);
    return static_cast<std::size_t>(archive.locate(archive.model_entry()).offset);
  }
  static ReplaceOptions removing(std::string name, const OutputOptions& output) {
    return {.remove = {std::move(name)}, .output = output};
  }

  TempDir folder_;
  Built built_;
  std::filesystem::path path_;
};

constexpr std::size_t in_small = 20;  // bytes from the end of a model: in its last tensor

TEST_F(DamagedEditTest, RefusesDamagedModel) {
  damage(model_entry, in_small);
  const auto other = folder_.write_file("m.onnx", model_of({floats("x", 5, 3)}).view());
  const Blob own = built_.data_of(model_entry);
  const auto added = std::make_shared<SpanSource>(Bytes(own));
  expect_refused(model_entry, [&](const OutputOptions& output) { ArchiveEditor::open(path_, {.output = output}); });
  expect_refused(model_entry, [&](const OutputOptions& output) { replace(path_, other, {.output = output}); });
  expect_refused(model_entry, [&](const OutputOptions& output) { replace(path_, Bytes(own), {.output = output}); });
  expect_refused(model_entry, [&](const OutputOptions& output) { replace(path_, removing("a.json", output)); });
  expect_refused(model_entry, [&](const OutputOptions& output) {
    replace(path_, {.add = {{"c.json", {}, added}}, .output = output});
  });
  expect_refused(model_entry,
                 [&](const OutputOptions& output) { replace(path_, other, {.output = output, .graph = "g"}); });
  expect_refused(model_entry,
                 [&](const OutputOptions& output) { ModelWriter().replace(path_, own, {.output = output}); });
}

TEST_F(DamagedEditTest, RefusesToReplaceDamagedGraph) {
  damage("g.onnx", in_small);
  const Blob graph = built_.data_of("g.onnx");
  expect_refused("g.onnx",
                 [&](const OutputOptions& output) { replace(path_, Bytes(graph), {.output = output, .graph = "g"}); });
}

TEST_F(DamagedEditTest, MovesNoDamagedEntry) {
  damage("b.json", 1);
  expect_refused("b.json", [&](const OutputOptions& output) {
    ArchiveEditor editor = ArchiveEditor::open(path_, {.output = output});
    editor.remove("a.json");
    static_cast<void>(editor.size_with({}, 10));
  });
  expect_refused("b.json", [&](const OutputOptions& output) { replace(path_, removing("a.json", output)); });
  const Error error = error_of([&] {
    ArchiveEditor editor = ArchiveEditor::open(path_, {.output = unsynced_output});
    editor.remove("a.json");
    editor.add("x", Bytes(pattern(100)));
  });
  EXPECT_EQ(error.code(), Code::zip_data_crc) << "before the first byte is written";
}

TEST_F(DamagedEditTest, RemovesNothingBesideDamagedGraph) {
  damage("g.onnx", in_small);
  for (const OutputOptions& output : {dry_output, unsynced_output}) {
    const Error error = error_of([&] { replace(path_, removing("b.json", output)); });
    EXPECT_EQ(error.code(), Code::usage_argument) << "its links may have named that entry";
    EXPECT_EQ(error.entry(), "b.json");
  }
}

TEST_F(DamagedEditTest, ReplacesAndRemovesDamagedFiles) {
  damage("g.onnx", in_small);
  const Blob graph = model_of({floats("x", 5, 3)}).view();
  const auto source = std::make_shared<SpanSource>(Bytes(graph));
  replace(path_, {.add = {{"g.onnx", {}, source}}, .output = unsynced_output});
  EXPECT_TRUE(passed(check(path_, {.data = true})));
  damage("b.json", 1);
  ReplaceOptions options = removing("b.json", unsynced_output);
  replace(path_, options);
  EXPECT_TRUE(passed(check(path_, {.data = true})));
}

TEST_F(DamagedEditTest, UndoStillLeadsBack) {
  damage(model_entry, in_small);
  flip_bit(built_.bytes, built_.entry(model_entry).data_offset + built_.data_of(model_entry).size() - in_small);
  const auto path = folder_.write_file("whole", built_.bytes);
  replace(path, model_of({linked_floats("w", 300, "w"), floats("y", 5, 4)}).view(), unsynced_edit());
  Blob edited = folder_.read_file("whole");
  flip_bit(edited, at_model(path));
  folder_.write_file("whole", edited);
  EXPECT_EQ(code_of([&] { replace(path, ReplaceOptions{.remove = {"b.json"}}); }), Code::zip_data_crc);
  undo(path, unsynced_output);
  EXPECT_EQ(folder_.read_file("whole"), built_.bytes);
}

}  // namespace
}  // namespace onnxar::testing
