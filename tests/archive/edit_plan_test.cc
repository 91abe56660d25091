// Which entries an edit keeps in place, which it moves, and how long the file becomes.
#include "archive/edit_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnxar/archive_writer.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

constexpr std::size_t weight_at = 0, side_file = 1, further = 2, old_model = 3;

/// A plan for an archive of a weight, a side file, a graph and the model.
EditPlan plan_of(const Blob& bytes) { return EditPlan(Archive::open(bytes, nullptr)); }

Blob archive_of_each_kind() {
  ZipBuilder builder = smallest_builder();
  const auto before_model = builder.entries.end() - 1;
  builder.entries.insert(before_model, {zip_entry("notes.txt", zeros(100)), zip_entry("g.onnx", zeros(0))});
  return builder.build();
}

TEST(EditPlan, AllEntriesExceptTheModelStayInPlace) {
  const Blob bytes = archive_of_each_kind();
  const EditPlan plan = plan_of(bytes);
  EXPECT_EQ(plan.kept(), old_model);
  EXPECT_FALSE(plan.moves(further));
  EXPECT_FALSE(plan.moves(old_model));
  EXPECT_EQ(plan.kept_directory().entries, old_model);
}

TEST(EditPlan, EntriesAfterARemovedOneMove) {
  const Blob bytes = archive_of_each_kind();
  EditPlan plan = plan_of(bytes);
  plan.remove(side_file);
  EXPECT_EQ(plan.kept(), side_file);
  EXPECT_TRUE(plan.is_removed(side_file));
  EXPECT_FALSE(plan.moves(weight_at));
  EXPECT_FALSE(plan.moves(side_file));
  EXPECT_TRUE(plan.moves(further));
  plan.remove(further);
  EXPECT_EQ(plan.kept(), side_file);
  EXPECT_FALSE(plan.moves(further));
}

TEST(EditPlan, TheSizeIsThatOfTheFileThatTheEditMakes) {
  const Built base = smallest_archive();
  const EditPlan plan = plan_of(base.bytes);
  const Blob model = smallest_model(256, "a different producer");
  const Built edited = append_edit(base, model, {zip_entry("b", zeros(300))});
  EXPECT_EQ(plan.size_with(std::vector{std::pair<std::string_view, std::uint64_t>("b", 300)}, model.size()),
            edited.bytes.size());
}

TEST(EditPlan, WithoutAnEntryThatStaysTheFileIsWrittenAnew) {
  const Blob bytes = archive_of_each_kind();
  EditPlan plan = plan_of(bytes);
  plan.remove(weight_at);
  EXPECT_EQ(plan.kept(), 0U);
  EXPECT_EQ(plan.kept_directory().entries, 0U);
  EXPECT_LT(plan.size_with({}, 10), bytes.size());
}

TEST(EditPlan, AnArchiveThatIsWrittenAnewHasTheSizeOfANewOne) {
  ZipBuilder builder;
  builder.entries = {zip_entry(model_entry, smallest_model())};
  builder.force_zip64 = true;  // an edit keeps the records, a new archive has none
  const Blob bytes = builder.build();
  const EditPlan plan = plan_of(bytes);
  for (std::string name = "a"; name.size() < 70; name += 'a') {
    const std::vector<std::pair<std::string_view, std::uint64_t>> added = {{name, 5}};
    EXPECT_EQ(plan.size_with(added, 10), archive_size(added, 10));
  }
}

TEST(EditPlan, TheAlignmentIsThatOfTheSmallestEntry) {
  ZipBuilder builder = smallest_builder();
  builder.alignment = 256;
  const Blob bytes = builder.build();
  EXPECT_EQ(plan_of(bytes).alignment(), 256U);
  const Blob usual = smallest_archive().bytes;
  ASSERT_EQ(plan_of(usual).alignment(), 64U);
  for (std::size_t smallest = 0; smallest < 3; ++smallest) {  // another writer's: each entry has its own alignment
    builder.entries = {zip_entry("a", zeros(10)), zip_entry("b", zeros(10)), zip_entry(model_entry, zeros(10))};
    for (std::size_t i = 0; i < smallest; ++i) builder.entries[i].data = zeros(20);
    for (std::size_t i = 0; i < 3; ++i) builder.entries[i].alignment = i == smallest ? 512U : 128U;
    const Blob each = builder.build();
    EXPECT_EQ(plan_of(each).alignment(), 512U) << "the first of the smallest is entry " << smallest;
  }
  EXPECT_EQ(plan_of(usual).alignment(), 64U);
}

}  // namespace
}  // namespace onnxar::testing
