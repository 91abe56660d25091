// Tests which entries tensors use, and the kinds of entries that follow.

#include "archive/entry_uses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/graphs.h"
#include "onnxar/archive_writer.h"
#include "support/refusal.h"
#include "support/samples.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;

class EntryUsesTest : public ::testing::Test {
 protected:
  /// An archive with an entry of each kind. `graph` is the content of its further graph.
  [[nodiscard]] static Built with_graph(const Blob& graph) {
    return archive_of(model_of({linked_floats("w", 2, "w")}),
                      {zip_entry("w", pattern(8, 1)), zip_entry("v", pattern(8, 2)), zip_entry("old", pattern(8, 3)),
                       zip_entry("notes.txt", pattern(3)), zip_entry("d.onnx", graph)});
  }
  static std::vector<EntryKind> kinds(const EntryUses& uses, const Archive& archive) {
    std::vector<EntryKind> all;
    for (std::size_t i = 0; i < archive.size(); ++i) all.push_back(uses.kind_of(i));
    return all;
  }

  Built built_ = with_graph(model_of({linked_floats("v", 2, "v")}).view());
  Archive archive_ = Archive::open(built_.bytes, nullptr);
};

TEST_F(EntryUsesTest, TensorsOfAllGraphsDecide) {
  EXPECT_THAT(kinds(uses_of(archive_), archive_),
              ElementsAre(EntryKind::weight, EntryKind::weight, EntryKind::unused, EntryKind::side_file,
                          EntryKind::graph, EntryKind::model));
}

TEST_F(EntryUsesTest, WeightsEndAfterTheLastEntryThatATensorNames) {
  EXPECT_EQ(uses_of(archive_).end_of_weights(), 2U);
  EntryUses uses(archive_);
  EXPECT_EQ(uses.end_of_weights(), 0U);
  uses.note(archive_.size() - 1);
  EXPECT_EQ(uses.end_of_weights(), 0U) << "the model does not count";
  uses.note(3);
  EXPECT_EQ(uses.end_of_weights(), 4U);
  uses.note(4);
  EXPECT_EQ(uses.end_of_weights(), 5U) << "the entry before the model";
}

TEST_F(EntryUsesTest, ABrokenGraphCountsAsFarAsItCanBeRead) {
  const Built broken = with_graph(pattern(50));
  const Archive archive = Archive::open(broken.bytes, nullptr);
  EXPECT_TRUE(code_of([&] { return uses_of(archive).end_of_weights(); }));
  EntryUses uses(archive);
  const auto note = [&](const ArchiveEntry&, const onnx::TensorSite& site) { uses.note(site); };
  EXPECT_THAT(walk_readable_graphs(archive, note), ElementsAre(4U));
  EXPECT_EQ(uses.end_of_weights(), 1U);
}

TEST_F(EntryUsesTest, AGraphInTheBytesOfTheModelKeepsTheModel) {
  const TempDir folder;
  const auto path = folder.write_file("a", with_graph(model_of({linked_floats("m", 1, "__MODEL_PROTO")}).view()).bytes);
  const auto refused = [&](bool removed) {
    return refusal_of([&] {
      ArchiveEditor editor = ArchiveEditor::open(path, {.output = {.sync = false}});
      if (removed) editor.remove("d.onnx");
      editor.commit(model_of({linked_floats("w", 1, "w")}).view());
      return true;
    });
  };
  EXPECT_EQ(refused(false), (ErrorContext{Code::usage_argument, "d.onnx"}));
  EXPECT_EQ(refused(true), std::nullopt);
}

}  // namespace

}  // namespace onnxar::testing
