// What repacking keeps, renames and drops, before anything is written.
#include "archive/repack_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/refusal.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

using ::testing::HasSubstr;

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
  bool may_change = false;
  bool operator==(const PlannedName&) const = default;
};

std::vector<PlannedName> planned(const Blob& zip, const RepackOptions& options, RepackReport& report,
                                 const ModelReading& reading = reading_of_one_link()) {
  const auto directory = zip::ForeignDirectory::read(zip, {});
  RepackPlan plan(zip, directory, options, reading);
  plan.make(report);
  std::vector<PlannedName> names;
  for (const PlannedEntry& entry : plan.entries()) {
    names.push_back({std::string(entry.name), entry.alignment, entry.may_change});
  }
  return names;
}

std::vector<PlannedName> planned(const Blob& zip, const RepackOptions& options = {},
                                 const ModelReading& reading = reading_of_one_link()) {
  RepackReport report;
  return planned(zip, options, report, reading);
}

Blob zip_of_names(const std::vector<std::string>& names) {
  ZipBuilder builder;
  for (const std::string& name : names) builder.entries.push_back(plain_entry(zip_entry(name, {})));
  return builder.build();
}

/// The message of the refusal; empty if there is none.
std::string refused(const Blob& zip, const RepackOptions& options) {
  const auto error = error_if_any([&] { return planned(zip, options); });
  return error ? error->message() : "";
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
  EXPECT_THAT(refused(zip, {.rename = {{"g.onnx", "g.txt"}}}), HasSubstr("would be a side file"));
  EXPECT_THAT(refused(zip, {.rename = {{"side.txt", "h.onnx"}}}), HasSubstr("would be a graph"));
  EXPECT_EQ(planned(zip, {.rename = {{"g.onnx", "h.onnx"}}})[0].name, "h.onnx");
}

TEST(RepackPlan, AGraphWithoutLinksMayBecomeASideFile) {
  const Blob zip = zip_of_names({"__MODEL_PROTO", "g.onnx", "linked"});
  ModelReading reading = reading_of_one_link();
  reading.linked_names = [](Bytes) { return base::KeyedSet<std::string>(); };
  EXPECT_EQ(planned(zip, {.rename = {{"g.onnx", "g.txt"}}}, reading)[0].name, "g.txt");
}

TEST(RepackPlan, NewNamesAreForEntriesThatAreThereAndDoNotClash) {
  const Blob zip = zip_of_names({"a.onnx", "side"});
  EXPECT_THAT(refused(zip, {.rename = {{"sid", "side.txt"}}}), HasSubstr("has no entry of this name"));
  ModelReading reading = reading_of_one_link();
  std::vector<std::string> proved;
  reading.prove_model_name = [&proved](Bytes, std::span<const std::string_view> names) {
    proved.assign(names.begin(), names.end());
    throw Error(Code::archive_graph_name, "a clash");
  };
  EXPECT_EQ(code_of([&] { return planned(zip, {.rename = {{"side", "side.txt"}}}, reading); }),
            Code::archive_graph_name);
  EXPECT_EQ(proved, (std::vector<std::string>{"side.txt", "__MODEL_PROTO"}));
  EXPECT_EQ(planned(zip, {}, reading).size(), 2U) << "without new names nothing is proved";
}

TEST(RepackPlan, OnlyEntriesThatAnEditAppendedMayChange) {
  const auto changing = [](const Blob& zip) {
    std::vector<bool> all;
    for (const PlannedName& entry : planned(zip)) all.push_back(entry.may_change);
    return all;
  };
  const Built first = smallest_archive();
  const Blob appended = append_edit(first, smallest_model(256, "next"), {zip_entry("v", pattern(50))}).bytes;
  EXPECT_EQ(changing(appended), (std::vector{false, true, true}));
  EXPECT_EQ(changing(first.bytes), (std::vector{false, false}));
  EXPECT_EQ(changing(zip_of_names({"a.onnx", "w"})), (std::vector{false, false}));
}

TEST(RepackPlan, AZipWithAWrongLocalHeaderIsNotAnArchive) {
  Built built = smallest_archive();
  flip_bit(built.bytes, 63);  // the padding of the first entry
  RepackReport report;
  static_cast<void>(planned(built.bytes, {}, report));
  ASSERT_EQ(report.remarks.size(), 1U);
  EXPECT_THAT(report.remarks[0].message, HasSubstr("the input is not an archive"));
}

}  // namespace
}  // namespace onnxar::testing
