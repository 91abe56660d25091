// Files of a package in archives and among side files: texts of a limited size, and graphs chosen by variants.
#include "convert/package_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "archive/opened.h"
#include "convert/package.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* two_variants = R"({"schema_version": "1.0", "components": {"c": {"variants": {
    "cpu": {"variant_directory": ".", "executor_info": {"ort": {"model_file": "a.onnx"}}},
    "gpu": {"variant_directory": ".", "executor_info": {"ort": {"model_file": "b.onnx"}}}}}}})";

/// An archive whose manifest makes the graphs `a` and `b` variants.
Built package_of_two(const std::string& manifest = two_variants) {
  return archive_of(model_of({floats("w", 2)}),
                    {zip_entry("manifest.json", blob(manifest)), zip_entry("a.onnx", model_of({}).view()),
                     zip_entry("b.onnx", model_of({}).view())});
}

std::vector<std::string> chosen(const Archive& archive, const std::string& first,
                                std::vector<std::string> further = {}) {
  LoadOptions options;
  options.graph = first;
  options.further_graphs = std::move(further);
  std::vector<std::string> names;
  for (const ArchiveEntry& entry : chosen_graphs(archive, options)) names.emplace_back(entry.name);
  return names;
}

TEST(PackageText, LongFileIsNotRead) {
  std::string text(Package::most_bytes + 1, 'x');
  const Archive archive = opened(package_of_two(text).bytes);
  EXPECT_EQ(package_text(archive, "manifest.json")->size(), Package::most_bytes + 1);
  EXPECT_EQ(package_text(archive, "manifest.json")->front(), ' ') << "another text of that size";
  EXPECT_EQ(package_text(*package_source(text)).front(), ' ');
  text.pop_back();
  EXPECT_EQ(package_text(*package_source(text)), text);
  EXPECT_EQ(package_text(archive, "none"), std::nullopt);
}

TEST(PackageText, DamagedManifestIsRefusedAtItsEntry) {
  Built built = package_of_two();
  const std::uint64_t begin = built.entry("manifest.json").data_offset;
  flip_bit(built.bytes, begin + 3);
  const Archive archive = opened(built.bytes);
  const ErrorContext damaged{Code::zip_data_crc, "manifest.json", begin};
  EXPECT_EQ(refusal_of([&] { return package_text(archive, "manifest.json"); }), damaged);
  EXPECT_EQ(refusal_of([&] { return chosen(archive, "cpu"); }), damaged);
}

TEST(ChosenGraphs, AreNamedByGraphOrVariantOnce) {
  const Archive archive = opened(package_of_two().bytes);
  EXPECT_THAT(chosen(archive, ""), IsEmpty());
  EXPECT_THAT(chosen(archive, "b"), ElementsAre("b.onnx"));
  EXPECT_THAT(chosen(archive, "gpu"), ElementsAre("b.onnx"));
  EXPECT_THAT(chosen(archive, "gpu", {"a.onnx", "cpu", "b"}), ElementsAre("b.onnx", "a.onnx"));
}

TEST(ChosenGraphs, RefusesUnknownNamesAndNoFirstOne) {
  const Archive archive = opened(package_of_two().bytes);
  EXPECT_EQ(refusal_of([&] { return chosen(archive, "npu"); }), (ErrorContext{Code::usage_no_such_entry, "npu"}));
  EXPECT_EQ(code_of([&] { return chosen(archive, "", {"a"}); }), Code::usage_argument);
  EXPECT_EQ(code_of([&] { return chosen(archive, "a", {"__MODEL_PROTO"}); }), Code::usage_argument)
      << "the model has no name for its file";
  EXPECT_THAT(chosen(archive, "__MODEL_PROTO", {"a"}), ElementsAre("__MODEL_PROTO", "a.onnx"));
}

TEST(PackageSideFiles, ChangesReplaceAddAndRemove) {
  std::vector<SideFile> files = {{"manifest.json", package_source("old")}, {"c.json", package_source("gone")}};
  onnxar::PackageFiles package(files);
  EXPECT_EQ(package.text("manifest.json"), "old");
  EXPECT_EQ(package.text("none"), std::nullopt);
  package.apply({.files = {{"manifest.json", "new"}, {"d.json", "added"}, {"c.json", std::nullopt}}});
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(package_text(*files[0].source), "new");
  EXPECT_EQ(files[1].name, "d.json");
}

TEST(PackageSideFiles, OnlyChosenVariantsStayInTheManifest) {
  const Archive archive = opened(package_of_two().bytes);
  std::vector<SideFile> files = {{"manifest.json", package_source(two_variants)}};
  const std::vector<ArchiveEntry> only = {*archive.find("b.onnx")};
  keep_variants(files, archive, only);
  EXPECT_THAT(package_text(*files.at(0).source), HasSubstr("\"gpu\""));
  EXPECT_THAT(package_text(*files.at(0).source), Not(HasSubstr("\"cpu\"")));
  keep_variants(files, archive, {});
  EXPECT_THAT(files, IsEmpty()) << "a manifest without variants is left out";
}

}  // namespace
}  // namespace onnxar::testing
