// Entries that a loader of the unzipped archive would take for a weight of a graph in a folder (G6): no writer makes
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "archive/opened.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "support/refusal.h"
#include "support/samples.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

Blob no_links() {
  const Message model = model_of({});
  return {model.view().begin(), model.view().end()};
}

class Shadow : public ::testing::Test {
 protected:
  /// An archive whose graph `unet/g.onnx` links to `w` and `sub/v.bin`, and whose graph `vae/h.onnx` links to nothing.
  std::filesystem::path archive() {
    const Message linked = model_of({linked_floats("w", 4, "w"), linked_floats("v", 4, "sub/v.bin")});
    const Built built = built_with(
        {zip_entry("w", pattern(16)), zip_entry("sub/v.bin", pattern(16)), zip_entry("x.txt", pattern(5)),
         zip_entry("unet/g.onnx", {linked.view().begin(), linked.view().end()}), zip_entry("vae/h.onnx", no_links())});
    return folder_.write_file("a", built.bytes);
  }
  std::optional<Code> code_of_edit(std::string_view added, std::string_view removed = {}) {
    return code_of([&] {
      ArchiveEditor editor = ArchiveEditor::open(archive(), {.output = {.sync = false}});
      if (!removed.empty()) editor.remove(removed);
      editor.add(added, pattern(3));
      editor.commit(no_links());
    });
  }
  std::optional<Code> code_of_rename(const std::string& from, const std::string& to) {
    return code_of([&] {
      repack(archive(), folder_ / "out", {.output = {.overwrite = true, .sync = false}, .rename = {{from, to}}});
    });
  }

  TempDir folder_;
};

TEST_F(Shadow, EditRefusesNameOfWeightInFolderOfGraph) {
  EXPECT_EQ(code_of_edit("unet/w"), Code::archive_graph_shadow);
  EXPECT_EQ(code_of_edit("unet/sub/v.bin"), Code::archive_graph_shadow);
  for (const std::string_view name : {"vae/w", "unet/x.txt", "unet/W", "unet/sub/w", "other/w", "unet/v.bin"})
    EXPECT_EQ(code_of_edit(name), std::nullopt) << name;
}

TEST_F(Shadow, EditAllowsNameOnceGraphIsRemoved) { EXPECT_EQ(code_of_edit("unet/w", "unet/g.onnx"), std::nullopt); }

TEST_F(Shadow, PlanOfEditRefusesName) {
  const ArchiveEditor editor = ArchiveEditor::open(archive(), {.output = {.dry_run = true}});
  const std::pair<std::string_view, std::uint64_t> added[] = {{"unet/w", 3}};
  expect_error(error_if_any([&] { static_cast<void>(editor.size_with(added, 10)); }),
               {.code = Code::archive_graph_shadow, .entry = "unet/w"});
}

TEST_F(Shadow, EditRefusesGraphThatIsHidden) {
  const Built built = built_with({zip_entry("w", pattern(16)), zip_entry("unet/w", pattern(16))});
  const auto path = folder_.write_file("b", built.bytes);
  EXPECT_EQ(code_of([&] {
              ArchiveEditor editor = ArchiveEditor::open(path, {.output = {.sync = false}});
              editor.add_graph("unet/g", model_of({linked_floats("w", 4, "w")}).view());
              editor.commit(no_links());
            }),
            Code::archive_graph_shadow);
}

TEST_F(Shadow, RepackRefusesNewName) {
  EXPECT_EQ(code_of_rename("x.txt", "unet/w.txt"), std::nullopt);
  EXPECT_EQ(code_of_rename("x.txt", "unet/sub/v.bin"), Code::archive_graph_shadow);
  EXPECT_EQ(code_of_rename("vae/h.onnx", "unet/h.onnx"), std::nullopt);
}

}  // namespace
}  // namespace onnxar::testing
