// What repacking keeps, renames and drops, before anything is written.
#include "convert/repack_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::HasSubstr;

struct PlannedName {
  std::string name;
  std::uint64_t alignment;
  bool may_change = false;
  bool operator==(const PlannedName&) const = default;
};

std::vector<PlannedName> planned(const Blob& zip, const RepackOptions& options, RepackReport& report) {
  const auto directory = zip::ForeignDirectory::read(zip, {});
  RepackPlan plan(zip, directory, options);
  plan.make(report);
  std::vector<PlannedName> names;
  for (const PlannedEntry& entry : plan.entries()) {
    names.push_back({std::string(entry.name), entry.alignment, entry.may_change});
  }
  return names;
}

std::vector<PlannedName> planned(const Blob& zip, const RepackOptions& options = {}) {
  RepackReport report;
  return planned(zip, options, report);
}

/// A zip of a model that links to the entry `linked`, and of entries with these names. Graphs have the same link.
Blob zip_of_names(const std::vector<std::string>& names,
                  const Blob& proto = model_of({linked_floats("w", 4, "linked")}).take()) {
  ZipBuilder builder;
  for (const std::string& name : names) {
    const bool is_model = name == model_entry || name.ends_with(".onnx");
    builder.entries.push_back(plain_entry(zip_entry(name, is_model ? proto : Blob())));
  }
  return builder.build();
}

Blob model_named(const std::string& name) {
  return model({.metadata = {string_entry("onnxar.model.name", name)}}).take();
}

/// The message of the refusal; empty if there is none.
std::string refused(const Blob& zip, const RepackOptions& options) {
  const auto error = error_if_any([&] { return planned(zip, options); });
  return error ? error->message() : "";
}

TEST(RepackPlan, TheModelIsLastAndNamedModelProto) {
  EXPECT_EQ(planned(zip_of_names({"a.onnx", "w", "f/", "__MACOSX/x"})),
            (std::vector<PlannedName>{{"w", 64}, {"__MODEL_PROTO", 64}}));
}

TEST(RepackPlan, ReportsOmittedEntriesAndTheFileSize) {
  const Blob zip = zip_of_names({"a.onnx", "__MACOSX/x"});
  RepackReport report;
  static_cast<void>(planned(zip, {}, report));
  EXPECT_EQ(report.entries, 1U);
  EXPECT_EQ(report.input_bytes, zip.size());
  EXPECT_GT(report.file_bytes, 64U);
  ASSERT_EQ(report.remarks.size(), 2U);
  EXPECT_EQ(report.remarks[1].message, "left out: 1 entry with metadata of macOS");
}

TEST(RepackPlan, RequestedAlignmentHoldsForEachEntry) {
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

TEST(RepackPlan, RefusesToTurnAGraphIntoASideFileOrBack) {
  const Blob zip = zip_of_names({"__MODEL_PROTO", "g.onnx", "side.txt"});
  EXPECT_THAT(refused(zip, {.rename = {{"g.onnx", "g.txt"}}}), HasSubstr("would be a side file"));
  EXPECT_THAT(refused(zip, {.rename = {{"side.txt", "h.onnx"}}}), HasSubstr("would be a graph"));
  EXPECT_EQ(planned(zip, {.rename = {{"g.onnx", "h.onnx"}}})[0].name, "h.onnx");
}

TEST(RepackPlan, AGraphWithoutLinksMayBecomeASideFile) {
  const Blob zip = zip_of_names({"__MODEL_PROTO", "g.onnx"}, model_of({floats("w", 4)}).take());
  EXPECT_EQ(planned(zip, {.rename = {{"g.onnx", "g.txt"}}})[0].name, "g.txt");
}

TEST(RepackPlan, RefusesNewNamesThatClashOrHaveNoEntry) {
  const Blob zip = zip_of_names({"__MODEL_PROTO", "g.onnx"}, model_named("decoder"));
  EXPECT_THAT(refused(zip, {.rename = {{"side", "side.txt"}}}), HasSubstr("has no entry of this name"));
  EXPECT_EQ(planned(zip, {.rename = {{"g.onnx", "encoder.onnx"}}})[0].name, "encoder.onnx");
  EXPECT_EQ(code_of([&] { return planned(zip, {.rename = {{"g.onnx", "Decoder.onnx"}}}); }), Code::archive_graph_name);
  const Blob clashing = zip_of_names({"__MODEL_PROTO", "decoder.onnx"}, model_named("decoder"));
  EXPECT_EQ(code_of([&] { return planned(clashing); }), Code::archive_graph_name) << "also without new names";
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
