// Edits of the manifest of a model package change the variants of graphs, and no other text.
#include "convert/package_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/package_texts.h"
#include "onnx/error_of.h"

namespace onnxar::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Editing : public ::testing::Test {
 protected:
  std::string edited(std::map<std::string, std::string> files, const std::vector<GraphVariant>& variants) {
    PackageFiles read(std::move(files));
    const PackageChanges changes = with_variants(read.reader(), variants, graphs_);
    warnings_ = changes.warnings;
    return changes.files.empty() ? std::string() : changes.files.begin()->second.value_or("");
  }
  std::string removed(const std::string& manifest, const std::vector<std::string>& graphs) {
    PackageFiles read({{"manifest.json", manifest}});
    const PackageChanges changes = without_variants(read.reader(), graphs);
    return changes.files.empty() ? "unchanged" : changes.files.begin()->second.value_or("removed");
  }

  std::vector<std::string> graphs_ = {"fp32.onnx", "int8.onnx", "enc/model.onnx", "dec/cpu/model.onnx"};
  std::vector<Finding> warnings_;
};

std::string compact(std::string_view name, std::string_view body) {
  return R"({"schema_version":"1.0","components":{"model":{"variants":{")" + std::string(name) +
         "\":" + std::string(body) + "}}}}";
}

constexpr std::string_view fp32_on_cpu =
    R"({"variant_directory": ".", "ep": "CPUExecutionProvider", "executor_info": {"ort": {"model_file": "fp32.onnx"}}})";

TEST_F(Editing, FirstVariantMakesTheManifest) {
  EXPECT_EQ(edited({}, {{"fp32", "cpu"}}), R"({
  "schema_version": "1.0",
  "layout": "portable",
  "components": {
    "model": {
      "variants": {
        "fp32": )" + std::string(fp32_on_cpu) +
                                               R"(
      }
    }
  }
}
)");
}

TEST_F(Editing, GraphsInFoldersHaveComponentsOfTheirOwn) {
  const std::string text = edited({}, {{"enc", "cpu"}, {"dec/cpu/model", "cuda", "gpu"}, {"fp32", "qnn", "NPU"}});
  const Package package = read_manifest(text);
  EXPECT_THAT(package.warnings(), IsEmpty());
  ASSERT_EQ(package.components().size(), 3U) << text;
  EXPECT_EQ(package.components()[0].name, "enc");
  EXPECT_EQ(package.components()[0].list[0].graph, "enc/model.onnx");
  EXPECT_EQ(package.components()[1].name, "dec/cpu");
  EXPECT_EQ(package.components()[2].list[0].device, "npu");
}

TEST_F(Editing, TextAroundAVariantStays) {
  const std::string before = compact("fp32", fp32_on_cpu);
  EXPECT_EQ(edited({{"manifest.json", before}}, {{"fp32", "cuda"}}),
            compact("fp32", R"({"variant_directory": ".", "ep": "CUDAExecutionProvider", "executor_info": {"ort": )"
                            R"({"model_file": "fp32.onnx"}}})"));
  EXPECT_THAT(edited({{"manifest.json", before}}, {{"fp32", "cuda", "gpu"}}), HasSubstr(R"(}}, "device": "gpu"}}}}})"));
  const std::string with_device = compact("fp32", R"({"device":"gpu","variant_directory":".","ep":"x","executor_info":)"
                                                  R"({"ort":{"model_file":"fp32.onnx"}}})");
  EXPECT_EQ(edited({{"manifest.json", with_device}}, {{"fp32", "cpu"}}),
            compact("fp32", R"({"variant_directory":".","ep":"CPUExecutionProvider","executor_info":)"
                            R"({"ort":{"model_file":"fp32.onnx"}}})"));
}

TEST_F(Editing, NewVariantComesLast) {
  const std::string text = edited({{"manifest.json", compact("fp32", fp32_on_cpu)}}, {{"int8", "openvino"}});
  const Package package = read_manifest(text);
  ASSERT_EQ(package.components().size(), 1U);
  EXPECT_EQ(package.components()[0].list.at(1).name, "int8");
  EXPECT_EQ(package.components()[0].list.at(1).ep, "OpenVINOExecutionProvider");
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(Editing, ComponentFileIsEditedInItsPlace) {
  const std::map<std::string, std::string> files = {
      {"manifest.json", manifest_of(R"({"dec": "dec"})")},
      {"dec/component.json", R"({"variants": {"v": {"executor_info": {"ort": {"model_file": "model.onnx"}}}}})"}};
  EXPECT_THAT(edited(files, {{"dec/cpu", "cpu"}}),
              HasSubstr(R"("cpu": {"variant_directory": ".", "ep": "CPUExecutionProvider", )"
                        R"("executor_info": {"ort": {"model_file": "cpu/model.onnx"}}})"));
}

TEST_F(Editing, WarnsOfVariantThatIsNeverChosen) {
  edited({}, {{"fp32", "cpu"}, {"int8", "cpu"}});
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_THAT(warnings_[0].message, HasSubstr("\"int8\" of \"model\" can only be chosen by name: \"fp32\""));
  edited({}, {{"fp32", "cuda"}, {"int8", "cuda", "gpu"}});
  EXPECT_EQ(warnings_.size(), 1U);
  edited({}, {{"fp32", "cuda", "gpu"}, {"int8", "cuda"}});
  EXPECT_THAT(warnings_, IsEmpty());
  edited({}, {{"fp32", "cpu"}, {"int8", "cuda"}, {"enc", "cpu"}});
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(Editing, NamesAtMostTenGraphsOfTheArchive) {
  const auto named = [this](std::size_t graphs) {
    graphs_.clear();
    for (std::size_t i = 0; i < graphs; ++i) graphs_.push_back("g" + std::to_string(i) + ".onnx");
    return std::ranges::count(error_of([this] { edited({}, {{"none", "cpu"}}); }).message(), '.');  // of `.onnx`
  };
  EXPECT_EQ(named(9), 9);
  EXPECT_EQ(named(10), 10);
  EXPECT_EQ(named(11), 10);
}

TEST_F(Editing, RefusesWhatCannotBeAVariant) {
  const auto message = [this](const GraphVariant& variant, std::map<std::string, std::string> files = {}) {
    const Error error = error_of([&] { edited(files, {variant}); });
    EXPECT_EQ(error.code(), Code::usage_argument);
    return error.message();
  };
  EXPECT_THAT(message({"none", "cpu"}), HasSubstr("no graph of the archive has the name \"none\""));
  EXPECT_THAT(message({"fp32", "cpuu"}), HasSubstr("no execution provider has the name \"cpuu\""));
  EXPECT_THAT(message({"fp32", ""}), HasSubstr("no execution provider"));
  EXPECT_THAT(message({"fp32", "ExecutionProvider"}), HasSubstr("no execution provider"));
  EXPECT_THAT(message({"fp32", "cpu", "tpu"}), HasSubstr("no device has the name \"tpu\""));
  EXPECT_THAT(message({"fp32", "cpu"}, {{"manifest.json", "{}"}}), HasSubstr("not the manifest of a model package"));
  EXPECT_THAT(message({"fp32", "cpu"}, {{"manifest.json", "{"}}), HasSubstr("is not JSON"));
  EXPECT_THAT(message({"fp32", "cpu"}, {{"manifest.json", manifest_of("{}", R"(, "components": {})")}}),
              HasSubstr("occurs twice"));
  EXPECT_THAT(message({"fp32", "cpu"}, {{"manifest.json", compact("fp32", "{}")}}), HasSubstr("with another graph"));
  EXPECT_THAT(error_of([this] { edited({}, {{"fp32", "cpu"}, {"fp32.onnx", "cuda"}}); }).message(),
              HasSubstr("would become two variants"));
}

TEST_F(Editing, RemovesVariantsOfGraphs) {
  const std::string manifest = manifest_of(
      R"({"a": {"variants": {"x": {"variant_directory": ".", "executor_info": {"ort": {"model_file": "x.onnx"}}},
                                         "y": {"variant_directory": ".", "executor_info": {"ort": {"model_file": "y.onnx"}}}}},
                      "b": {"variants": {"z": {"variant_directory": ".", "executor_info": {"ort": {"model_file": "z.onnx"}}}}}})");
  const auto names = [](const std::string& text) {
    std::string all;
    const Package package = read_manifest(text);
    for (const Package::Component& component : package.components()) {
      all += component.name + ":";
      for (const Package::Variant& variant : component.list) all += variant.name;
    }
    return all;
  };
  EXPECT_EQ(names(removed(manifest, {"x.onnx"})), "a:yb:z");
  EXPECT_EQ(names(removed(manifest, {"y.onnx"})), "a:xb:z");
  EXPECT_EQ(names(removed(manifest, {"z.onnx"})), "a:xy");
  EXPECT_EQ(names(removed(manifest, {"x.onnx", "y.onnx"})), "b:z");
  EXPECT_EQ(removed(manifest, {"x.onnx", "y.onnx", "z.onnx"}), "removed");
  EXPECT_EQ(removed(manifest, {"w.onnx"}), "unchanged");
  EXPECT_EQ(removed("{}", {"x.onnx"}), "unchanged");
}

}  // namespace
}  // namespace onnxar::testing
