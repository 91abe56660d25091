// Tests reading the manifest of a model package.
#include "convert/package.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "convert/package_texts.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

/// A variant whose executor has this body.
std::string manifest_with(std::string_view ort, std::string_view more = "") {
  return manifest_of(R"({"c": {"variants": {"v": {"executor_info": {"ort": )" + std::string(ort) + "}" +
                     std::string(more) + "}}}}");
}

const Package::Variant& only_variant(const Package& package) { return package.components().at(0).list.at(0); }

TEST(PackageRead, FindsVariantsInTheirOrder) {
  PackageFiles files(
      {{"manifest.json", R"({"schema_version": "1.0", "components": {"dec": "dec", "enc": {"variants": {
                  "z": {"ep": "CUDAExecutionProvider", "device": "gpu", "compatibility_string": "sm_90",
                        "executor_info": {"ort": {"model_file": "m.onnx"}}},
                  "a": {"variant_directory": "./x//y/", "executor_info": {"ort": "info.json"}}}}}})"},
       {"dec/component.json", R"({"variants": {"v": {"executor_info": {"ort": {"model_file": "m.onnx"}}}}})"},
       {"x/y/info.json", R"({"model_file": "n.onnx"})"}});
  const Package package = files.read();
  EXPECT_TRUE(package.is_one());
  EXPECT_THAT(package.warnings(), IsEmpty());
  ASSERT_EQ(package.components().size(), 2U);
  const auto& [dec, enc] = std::pair(package.components()[0], package.components()[1]);
  EXPECT_EQ(dec.folder, "dec");
  EXPECT_EQ(dec.list.at(0).graph, "dec/v/m.onnx");
  EXPECT_EQ(enc.list.at(0).name, "z");
  EXPECT_EQ(enc.list.at(0).graph, "z/m.onnx");
  EXPECT_EQ(enc.list.at(0).ep + enc.list.at(0).device + enc.list.at(0).compatibility, "CUDAExecutionProvidergpusm_90");
  EXPECT_EQ(enc.list.at(1).graph, "x/y/n.onnx");
}

TEST(PackageRead, ComponentMayBeAFileOfAnyName) {
  PackageFiles files({{"manifest.json", manifest_of(R"({"c": "sub/c.json"})")},
                      {"sub/c.json", R"({"variants": {"v": {"executor_info": {"ort": {"model_file": "m.onnx"}}}}})"}});
  EXPECT_EQ(only_variant(files.read()).graph, "sub/v/m.onnx");
}

TEST(PackageRead, OtherManifestsAreNone) {
  for (const std::string_view text : {"[]", "1", "{}", R"({"schema_version": "1.0"})", R"({"components": {}})",
                                      R"({"name": "web app", "icons": []})", R"({"model_name": "x"})"}) {
    const Package package = read_manifest(std::string(text));
    EXPECT_FALSE(package.is_one()) << text;
    EXPECT_THAT(package.warnings(), IsEmpty()) << text;
  }
  EXPECT_FALSE(PackageFiles({}).read().is_one());
  EXPECT_FALSE(PackageFiles({{"manifest.json", manifest_of("{}")}, {"genai_config.json", "{}"}}).read().is_one());
  EXPECT_TRUE(PackageFiles({{"manifest.json", manifest_of("{}")}, {"sub/genai_config.json", "{}"}}).read().is_one());
}

TEST(PackageRead, KnowsVersions) {
  const auto is_one = [](std::string_view version) {
    return read_manifest(R"({"components": {}, "schema_version": )" + std::string(version) + "}").is_one();
  };
  for (const std::string_view version : {"1", "\"1\"", "\"1.0\"", "\"1.7\"", "\"1.0.0\""})
    EXPECT_TRUE(is_one(version)) << version;
  for (const std::string_view version : {"2", "\"2.0\"", "\"0.9\"", "\"10.0\"", "\"\"", "null", "{}", "[1]", "-1"})
    EXPECT_FALSE(is_one(version)) << version;
}

/// A manifest, and a part of the warning that it gets.
struct Hostile {
  std::string text;
  std::string_view warning;
};

std::vector<Hostile> texts_that_are_not_json() {
  const std::string good = manifest_of(R"({"c": {"variants": {}}})");
  std::vector<Hostile> cases = {{"\xef\xbb\xbf" + good, "byte order mark"},
                                {good + "x", "goes on"},
                                {good + good, "goes on"},
                                {"'" + good, "must have a value"},
                                {"{\"a\": NaN}", "must have a value"},
                                {"{\"a\": Infinity}", "must have a value"},
                                {"{\"a\": 01}", "must have"},
                                {"{\"a\": +1}", "must have a value"},
                                {"{\"a\": 1e}", "digit"},
                                {"{\"a\": .5}", "must have a value"},
                                {"{\"a\": \"\xff\"}", "not UTF-8"},
                                {"{\"a\": \"\xc0\xaf\"}", "not UTF-8"},
                                {"{\"a\": \"\\ud800\"}", "half of a surrogate pair"},
                                {"{\"a\": \"\n\"}", "control character"},
                                {"{\"a\": 1,}", "must have"},
                                {"{\"a\" 1}", "must have"},
                                {"{a: 1}", "must have"},
                                {"/* */ {}", "must have a value"},
                                {"{\"a\": tru}", "must have a value"},
                                {" ", "must have a value"},
                                {std::string(1, '\0'), "must have a value"},
                                {good.substr(0, good.size() - 1), "must have"}};
  for (std::size_t size = 1; size + 1 < good.size(); size += 3) cases.push_back({good.substr(0, size), ""});
  return cases;
}

TEST(PackageRead, WarnsOfTextThatIsNotJson) {
  for (const Hostile& each : texts_that_are_not_json()) {
    const Package package = read_manifest(each.text);
    EXPECT_FALSE(package.is_one()) << each.text;
    ASSERT_EQ(package.warnings().size(), 1U) << each.text;
    EXPECT_EQ(package.warnings()[0].severity, Severity::warning);
    EXPECT_EQ(package.warnings()[0].place.entry, "manifest.json");
    EXPECT_THAT(package.warnings()[0].message, HasSubstr(each.warning)) << each.text;
  }
}

TEST(PackageRead, WarnsOfValuesOfAnotherKind) {
  std::vector<Hostile> cases;
  for (const std::string value : {"1", "null", "true", "[]", "\"x\""}) {
    cases.push_back({manifest_of(value), "`components` is not an object"});
    cases.push_back({manifest_of(R"({"c": {"variants": )" + value + "}}"), "is not an object"});
    cases.push_back({manifest_of(R"({"c": {"variants": {"v": )" + value + "}}}"), "is not an object"});
    if (value == "\"x\"") continue;
    cases.push_back({manifest_of(R"({"c": )" + value + "}"), "is not an object"});
    cases.push_back({manifest_with(value), "is not an object"});
    cases.push_back({manifest_with(R"({"model_file": )" + value + "}"), "`model_file` is not a string"});
    cases.push_back({manifest_with("{}", R"(, "ep": )" + value), "`ep` is not a string"});
    cases.push_back({manifest_with("{}", R"(, "device": )" + value), "`device` is not a string"});
    cases.push_back({manifest_with("{}", R"(, "variant_directory": )" + value), "`variant_directory` is not"});
  }
  cases.push_back({manifest_of(R"({"c": {}})"), "has no `variants`"});
  cases.push_back({manifest_of(R"({"c": "missing"})"), "no file \"missing/component.json\""});
  cases.push_back({manifest_with("\"missing.json\""), "no file \"v/missing.json\""});
  for (const Hostile& each : cases) {
    const Package package = read_manifest(each.text);
    ASSERT_FALSE(package.warnings().empty()) << each.text;
    EXPECT_THAT(package.warnings()[0].message, HasSubstr(each.warning)) << each.text;
  }
}

/// Paths that leave the package, in each place that may have one.
TEST(PackageRead, NeverLeavesThePackage) {
  const std::vector<std::string> paths = {"..",
                                          "../x",
                                          "/etc/passwd",
                                          "a/../../b",
                                          "a/..",
                                          "C:/x",
                                          "C:x",
                                          "..\\\\x",
                                          "\\\\\\\\server\\\\x",
                                          "a/../b",
                                          "x\\u0000y",
                                          "sha256:../../etc",
                                          "sha256:12",
                                          "sha256:" + std::string(64, 'g'),
                                          "sha256:" + std::string(64, 'a') + "/../x"};
  for (const std::string& path : paths) {
    const std::string option = R"({"session.model_external_initializers_file_folder_path": ")" + path + "\"}";
    for (const std::string& text :
         {manifest_of(R"({"c": ")" + path + "\"}"), manifest_with("\"" + path + "\""),
          manifest_with(R"({"model_file": ")" + path + "\"}"),
          manifest_with("{\"model_file\": \"m\"}", R"(, "variant_directory": ")" + path + "\""),
          manifest_with(R"({"session_options": )" + option + "}")}) {
      PackageFiles files({{"manifest.json", text}});
      const Package package = files.read();
      ASSERT_FALSE(package.warnings().empty()) << text;
      EXPECT_THAT(package.warnings()[0].message, HasSubstr("does not stay in the package")) << text;
      for (const std::string& name : files.asked()) {
        EXPECT_EQ(name.find(".."), std::string::npos) << name;
        EXPECT_FALSE(name.starts_with('/')) << name;
      }
      for (const Package::Component& component : package.components())
        for (const Package::Variant& variant : component.list) EXPECT_FALSE(variant.data_folder) << text;
    }
  }
}

TEST(PackageRead, WarnsOfKeysThatAreThereTwice) {
  for (const std::string& text :
       {manifest_of("{}", R"(, "components": {})"), manifest_of("{}", R"(, "schema_version": "1.1")"),
        manifest_of(R"({"c": {"variants": {}}, "c": {"variants": {}}})"),
        manifest_of(R"({"c": {"variants": {"v": {}, "v": {}}}})"), manifest_with("{}", R"(, "ep": "a", "ep": "b")"),
        manifest_with(R"({"model_file": "a", "model_file": "b"})"),
        manifest_with(R"({"session_options": {"a": "1", "\u0061": "2"}})")}) {
    const Package package = read_manifest(text);
    ASSERT_EQ(package.warnings().size(), 1U) << text;
    EXPECT_THAT(package.warnings()[0].message, HasSubstr("occurs twice")) << text;
  }
  EXPECT_EQ(only_variant(read_manifest(manifest_with("{}", R"(, "ep": "a", "ep": "b")"))).ep, "b");
}

/// Ten thousand levels, and more files and values than any package has: linear, with a few warnings.
TEST(PackageRead, HostileSizesCostLittle) {
  const std::string deep = std::string(10'000, '[') + std::string(10'000, ']');
  EXPECT_TRUE(read_manifest(manifest_of("{}", R"(, "additional_metadata": )" + deep)).is_one());
  EXPECT_FALSE(read_manifest(std::string(10'000, '[')).is_one());
  EXPECT_FALSE(read_manifest(std::string(100U << 20U, ' ')).is_one());
  EXPECT_FALSE(read_manifest(manifest_of("{}", ", \"x\": \"" + std::string(Package::most_bytes, 'x') + "\"")).is_one());
  std::string many = "{";
  for (int i = 0; i < 50'000; ++i) many += (i == 0 ? "" : ",") + ("\"" + std::to_string(i)) + "\": \"big\"";
  PackageFiles files({{"manifest.json", manifest_of(many + "}")},
                      {"big/component.json", R"({"variants": {}, "x": ")" + std::string(1U << 20U, 'x') + "\"}"}});
  const Package package = files.read();
  EXPECT_LT(package.components().size(), 20U);
  EXPECT_THAT(package.warnings(), ::testing::SizeIs(10));
}

TEST(PackageRead, DataFoldersAreResolved) {
  const std::string digest(64, 'a');
  const auto folder_of = [](const std::string& path, const std::string& more = "") {
    const std::string option = R"({"session.model_external_initializers_file_folder_path": ")" + path + "\"}";
    return only_variant(
               read_manifest(manifest_of(
                   R"({"c": {"variants": {"v": {"executor_info": {"ort": {"session_options": )" + option + "}}}}}}",
                   more)))
        .data_folder.value_or("none");
  };
  EXPECT_EQ(folder_of("w"), "v/w");
  EXPECT_EQ(folder_of("."), "v");
  EXPECT_EQ(folder_of("sha256:" + digest), "shared_assets/sha256-" + digest);
  EXPECT_EQ(folder_of("sha256:" + digest + "/a//b"), "shared_assets/sha256-" + digest + "/a/b");
  EXPECT_EQ(folder_of("sha256:" + digest, R"(, "shared_assets": {"sha256:)" + digest + R"(": "weights"})"), "weights");
}

TEST(PackageRead, DataFoldersAreCutOutOfTheText) {
  const std::string option = R"("session.model_external_initializers_file_folder_path": "w")";
  const auto without = [](const std::string& options) {
    const auto changed = read_manifest(manifest_with(R"({"session_options": )" + options + "}")).without_data_folders();
    return changed.empty() ? std::string("unchanged") : changed.at("manifest.json");
  };
  const auto with = [](const std::string& options) { return manifest_with(R"({"session_options": )" + options + "}"); };
  EXPECT_EQ(without("{" + option + "}"), with("{}"));
  EXPECT_EQ(without("{ \"a\": \"1\" , " + option + " }"), with("{ \"a\": \"1\" }"));
  EXPECT_EQ(without("{ " + option + ", \"a\": \"1\" }"), with("{ \"a\": \"1\" }"));
  EXPECT_EQ(without("{\"a\":\"1\"," + option + ",\"b\":\"2\"}"), with("{\"a\":\"1\",\"b\":\"2\"}"));
  EXPECT_EQ(without("{" + option + "," + option + ",\"b\":\"2\"}"), with("{\"b\":\"2\"}"));
  EXPECT_EQ(without("{" + option + ",\"b\":\"2\"," + option + "}"), with("{\"b\":\"2\"}"));
  EXPECT_EQ(without("{\"a\": \"1\"}"), "unchanged");
}

TEST(PackageRead, SharedExecutorFileIsChangedOnce) {
  PackageFiles files(
      {{"manifest.json", manifest_of(R"({"c": {"variants": {
                  "v": {"variant_directory": ".", "executor_info": {"ort": "ort.json"}},
                  "w": {"variant_directory": ".", "executor_info": {"ort": "ort.json"}}}}})")},
       {"ort.json", R"({"session_options": {"session.model_external_initializers_file_folder_path": "w"}})"}});
  EXPECT_THAT(files.read().without_data_folders(), ElementsAre(Pair("ort.json", R"({"session_options": {}})")));
}

}  // namespace
}  // namespace onnxar::testing
