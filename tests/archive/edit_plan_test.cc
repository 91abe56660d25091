// Which entries an edit keeps in place, which it moves, and how long the file becomes, as a dry run plans it.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/edit.h"
#include "archive/opened.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "support/refusal.h"
#include "support/samples.h"
#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

class EditPlan : public ::testing::Test {
 protected:
  ArchiveEditor plan_of(const Blob& bytes, bool verify = true) {
    return ArchiveEditor::open(folder_.write_file("archive", bytes),
                               {.output = {.dry_run = true}, .verify_model = verify});
  }

  /// The alignment of a small entry that an edit adds.
  std::uint64_t alignment_after(const Blob& bytes) {
    const auto path = folder_.write_file("edited", bytes);
    ArchiveEditor open = ArchiveEditor::open(path, {.output = {.sync = false}, .verify_model = false});
    open.add("added", pattern(1));
    open.commit(smallest_model());
    const Archive archive = Archive::open(path);
    return archive.locate(*archive.find("added")).alignment;
  }

  TempDir folder_;
};

/// An archive of a weight, a side file, a graph and the model.
Built archive_of_each_kind() {
  return built_with(
      {zip_entry("w", pattern(1024)), zip_entry("notes.txt", zeros(100)), zip_entry("g.onnx", smallest_model())});
}

TEST_F(EditPlan, AllEntriesExceptTheModelStayInPlace) {
  const Built base = archive_of_each_kind();
  const ArchiveEditor plan = plan_of(base.bytes);
  EXPECT_EQ(plan.kept_entries(), 3U);
  EXPECT_EQ(plan.size_with({}, smallest_model().size()), append_edit(base, smallest_model()).bytes.size());
}

TEST_F(EditPlan, EntriesAfterARemovedOneMove) {
  ArchiveEditor plan = plan_of(archive_of_each_kind().bytes);
  plan.remove("notes.txt");
  EXPECT_EQ(plan.kept_entries(), 1U);
  const std::uint64_t with_graph = plan.size_with({}, 10);
  plan.remove("g.onnx");
  EXPECT_EQ(plan.kept_entries(), 1U);
  EXPECT_GE(with_graph, plan.size_with({}, 10) + smallest_model().size()) << "the graph was appended again";
}

TEST_F(EditPlan, TheSizeIsThatOfTheFileThatTheEditMakes) {
  const Built base = smallest_archive();
  const ArchiveEditor plan = plan_of(base.bytes);
  const Blob model = smallest_model(256, "a different producer");
  const Built edited = append_edit(base, model, {zip_entry("b", zeros(300))});
  EXPECT_EQ(plan.size_with(std::vector{std::pair<std::string_view, std::uint64_t>("b", 300)}, model.size()),
            edited.bytes.size());
}

TEST_F(EditPlan, RewritesTheFileIfNoEntryIsKept) {
  const Blob bytes = built_with({zip_entry("a.txt", zeros(100)), zip_entry("b.txt", zeros(100))}).bytes;
  ArchiveEditor plan = plan_of(bytes);
  plan.remove("a.txt");
  EXPECT_EQ(plan.kept_entries(), 0U);
  const std::vector<std::pair<std::string_view, std::uint64_t>> rest = {{"b.txt", 100}};
  EXPECT_EQ(plan.size_with({}, 10), archive_size(rest, 10));
}

TEST_F(EditPlan, RewrittenArchiveHasTheSizeOfANewOne) {
  ZipBuilder builder;
  builder.entries = {zip_entry(model_entry, smallest_model())};
  builder.force_zip64 = true;  // an edit keeps the records, a new archive has none
  const ArchiveEditor plan = plan_of(builder.build());
  for (std::string name = "a"; name.size() < 70; name += 'a') {
    const std::vector<std::pair<std::string_view, std::uint64_t>> added = {{name, 5}};
    EXPECT_EQ(plan.size_with(added, 10), archive_size(added, 10));
  }
}

TEST_F(EditPlan, RefusesNameOfEntryThatStays) {
  const ArchiveEditor plan = plan_of(archive_of_each_kind().bytes);
  for (const std::string_view name : {"w", "notes.txt", "g.onnx"}) {
    const std::vector<std::pair<std::string_view, std::uint64_t>> added = {{name, 5}};
    EXPECT_EQ(code_of([&] { return plan.size_with(added, 10); }), Code::zip_name_duplicate) << name;
  }
}

TEST_F(EditPlan, GraphInTheRootHidesNoWeight) {
  const Blob broken = model_of({linked_floats("t", 4, "a/w")}).take();
  const ArchiveEditor plan = plan_of(built_with({zip_entry("w", zeros(16)), zip_entry("g.onnx", broken)}).bytes);
  const std::vector<std::pair<std::string_view, std::uint64_t>> added = {{"a/w", 16}};
  EXPECT_EQ(code_of([&] { return plan.size_with(added, 10); }), std::nullopt);
}

TEST_F(EditPlan, BrokenLinkHidesNoWeight) {
  const Blob broken = model_of({linked_floats("t", 4, "none")}).take();
  const ArchiveEditor plan = plan_of(built_with({zip_entry("w", zeros(16)), zip_entry("d/g.onnx", broken)}).bytes);
  const std::vector<std::pair<std::string_view, std::uint64_t>> added = {{"d/none", 16}};
  EXPECT_EQ(code_of([&] { return plan.size_with(added, 10); }), std::nullopt);
}

TEST_F(EditPlan, RemovedGraphHidesNoWeight) {
  const Blob beside = model_of({linked_floats("t", 4, "w")}).take();
  ArchiveEditor plan = plan_of(built_with({zip_entry("w", zeros(16)), zip_entry("d/g.onnx", beside)}).bytes);
  const std::vector<std::pair<std::string_view, std::uint64_t>> added = {{"d/w", 16}};
  EXPECT_EQ(code_of([&] { return plan.size_with(added, 10); }), Code::archive_graph_shadow);
  plan.remove("d/g.onnx");
  EXPECT_EQ(code_of([&] { return plan.size_with(added, 10); }), std::nullopt);
}

TEST_F(EditPlan, AddedGraphsAreProvedAndSideFilesAreNot) {
  const Blob model = smallest_model();
  const auto refusal = [&](std::string_view name, const Blob& data, bool verify = true) {
    const ArchiveEditor plan = plan_of(smallest_archive().bytes, verify);
    const SpanSource source(data);
    const NewEntry added[] = {{name, &source}};
    return refusal_of([&] { return EditAccess::plan(plan, added, SpanSource(model)); });
  };
  EXPECT_EQ(refusal("g.txt", blob("\xff")), std::nullopt);
  EXPECT_EQ(refusal("g.onnx", model), std::nullopt);
  EXPECT_EQ(refusal("g.onnx", blob("\xff")), (ErrorContext{Code::wire_truncated, "g.onnx"}));
  EXPECT_EQ(refusal("g.onnx", blob("\xff"), false), std::nullopt) << "the caller knows the graph";
}

TEST_F(EditPlan, RefusesModelWithDataInMovedEntry) {
  ArchiveEditor plan = plan_of(
      built_with({zip_entry("a.txt", zeros(100)), zip_entry("b.txt", zeros(64)), zip_entry("c.txt", zeros(64))}).bytes);
  plan.remove("b.txt");
  const auto refusal = [&](std::string_view location) {
    const Blob model = model_of({linked_floats("w", 16, location)}).take();
    return refusal_of([&] { return EditAccess::plan(plan, {}, SpanSource(model)); });
  };
  EXPECT_EQ(refusal("c.txt"), (ErrorContext{Code::usage_argument, "c.txt"}));
  EXPECT_EQ(refusal("a.txt"), std::nullopt);
  EXPECT_EQ(refusal("b.txt"), (ErrorContext{Code::onnx_external_missing, std::string(model_entry)}));
}

TEST_F(EditPlan, ReportsFileThatChangedWhileItWasPlanned) {
  ONNXAR_NEEDS_CHANGE_OF_MAPPED_FILES();
  Built built = archive_of_each_kind();
  ArchiveEditor plan = plan_of(built.bytes);
  flip_bit(built.bytes, built.entry("g.onnx").data_offset);
  flip_bit(built.bytes, built.directory_offset + 16);  // a CRC-32
  folder_.write_file("archive", built.bytes);
  EXPECT_EQ(code_of([&] {
              plan.remove("notes.txt");
              return 0;
            }),
            Code::io_changed);
}

TEST_F(EditPlan, TheAlignmentIsThatOfTheSmallestEntry) {
  ZipBuilder builder = smallest_builder();
  builder.alignment = 256;
  EXPECT_EQ(alignment_after(builder.build()), 256U);
  EXPECT_EQ(alignment_after(smallest_archive().bytes), 64U);
  for (std::size_t smallest = 0; smallest < 3; ++smallest) {  // another writer's: each entry has its own alignment
    builder.entries = {zip_entry("a", zeros(10)), zip_entry("b", zeros(10)), zip_entry(model_entry, zeros(10))};
    for (std::size_t i = 0; i < smallest; ++i) builder.entries[i].data = zeros(20);
    for (std::size_t i = 0; i < 3; ++i) builder.entries[i].alignment = i == smallest ? 512U : 128U;
    EXPECT_EQ(alignment_after(builder.build()), 512U) << "the first of the smallest is entry " << smallest;
  }
}

}  // namespace
}  // namespace onnxar::testing
