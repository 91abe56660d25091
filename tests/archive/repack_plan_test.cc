// What repacking keeps, renames and drops, before anything is written.
#include "archive/repack_plan.h"

#include <gtest/gtest.h>

#include "support/refusal.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

/// Reads no model: every model links to the entry `linked`.
ModelReading reading_of_one_link() {
  ModelReading reading;
  reading.linked_names = [](Bytes) { return base::KeyedSet<std::string>{"linked"}; };
  reading.prove_model_name = [](Bytes, std::span<const std::string_view>) {};
  reading.has_stand_ins = [](const ByteSource&) { return false; };
  return reading;
}

struct PlannedName {
  std::string name;
  std::uint64_t alignment;
  bool operator==(const PlannedName&) const = default;
};

std::vector<PlannedName> planned(const Blob& zip, const RepackOptions& options, RepackReport& report) {
  const auto directory = zip::ForeignDirectory::read(zip, {});
  const ModelReading reading = reading_of_one_link();
  RepackPlan plan(zip, directory, options, reading);
  plan.make(report);
  std::vector<PlannedName> names;
  for (const PlannedEntry& entry : plan.entries()) names.push_back({std::string(entry.name), entry.alignment});
  return names;
}

std::vector<PlannedName> planned(const Blob& zip, const RepackOptions& options = {}) {
  RepackReport report;
  return planned(zip, options, report);
}

Blob zip_of_names(const std::vector<std::string>& names) {
  ZipBuilder builder;
  for (const std::string& name : names) builder.entries.push_back(plain_entry(zip_entry(name, {})));
  return builder.build();
}

TEST(RepackPlan, TheModelIsTheLastEntryAndHasItsName) {
  EXPECT_EQ(planned(zip_of_names({"a.onnx", "w", "f/", "__MACOSX/x"})),
            (std::vector<PlannedName>{{"w", 64}, {"__MODEL_PROTO", 64}}));
}

TEST(RepackPlan, TheReportSaysWhatWasLeftOutAndHowLongTheFileIs) {
  const Blob zip = zip_of_names({"a.onnx", "__MACOSX/x"});
  RepackReport report;
  static_cast<void>(planned(zip, {}, report));
  EXPECT_EQ(report.entries, 1U);
  EXPECT_EQ(report.input_bytes, zip.size());
  EXPECT_GT(report.file_bytes, 64U);
  ASSERT_EQ(report.remarks.size(), 2U);
  EXPECT_EQ(report.remarks[1].message, "left out: 1 entry with metadata of macOS");
}

TEST(RepackPlan, AnAlignmentThatIsAskedForIsThatOfEachEntry) {
  EXPECT_EQ(planned(zip_of_names({"a.onnx", "w"}), {.alignment = 256}),
            (std::vector<PlannedName>{{"w", 256}, {"__MODEL_PROTO", 256}}));
}

TEST(RepackPlan, EntriesThatAModelNamesKeepTheirNames) {
  const Blob zip = zip_of_names({"a.onnx", "linked", "side"});
  EXPECT_EQ(planned(zip, {.rename = {{"side", "side.txt"}}})[1].name, "side.txt");
  EXPECT_EQ(code_of([&] { return planned(zip, {.rename = {{"linked", "other.txt"}}}); }), Code::usage_argument);
  EXPECT_EQ(code_of([&] { return planned(zip, {.rename = {{"side", "linked"}}}); }), Code::usage_argument);
  EXPECT_EQ(code_of([&] { return planned(zip_of_names({"a.onnx", "c:x"})); }), Code::zip_name_character);
}

TEST(RepackPlan, AGraphDoesNotBecomeASideFileNorASideFileAGraph) {
  const Blob zip = zip_of_names({"__MODEL_PROTO", "g.onnx", "side.txt"});
  EXPECT_EQ(code_of([&] { return planned(zip, {.rename = {{"g.onnx", "g.txt"}}}); }), Code::usage_argument);
  EXPECT_EQ(code_of([&] { return planned(zip, {.rename = {{"side.txt", "h.onnx"}}}); }), Code::usage_argument);
  EXPECT_EQ(planned(zip, {.rename = {{"g.onnx", "h.onnx"}}})[0].name, "h.onnx");
}

}  // namespace
}  // namespace onnxar::testing
