// Configurations that name the archive's folder.
#include "runtime/link_configs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "onnx/error_of.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr const char* option = R"("session.model_external_initializers_file_folder_path": "../s")";

std::map<std::string, std::string> installed(const std::map<std::string, std::string>& files,
                                             const std::string& has = "kept") {
  const Package package = Package::read([&](const std::string& name) -> std::optional<std::string> {
    const auto found = files.find(name);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  });
  return installed_package(
      package, [](const std::string&, const std::string& graph) { return graph == "v/m.onnx" ? "../s" : ""; },
      [&](const std::string& path) { return path == has; });
}

std::string manifest(const std::string& ort, const std::string& more = "") {
  return R"({"schema_version": "1.0", "components": {"c": {"variants": {"v": {"executor_info": {"ort": )" + ort +
         "}}}}}" + more + "}";
}

TEST(InstalledPackage, NamesTheFolderInSessionOptions) {
  const std::string head = R"({"layout": "installed", )";
  const auto expect = [&](const std::string& before, const std::string& after) {
    const std::string whole = manifest(after);
    EXPECT_THAT(installed({{"manifest.json", manifest(before)}}),
                ElementsAre(Pair("manifest.json", head + whole.substr(1))));
  };
  const std::string model = R"("model_file": "m.onnx")", with = std::string(R"("session_options": {)") + option + "}";
  expect("{" + model + "}", "{" + with + ", " + model + "}");
  expect("{ " + model + R"(, "session_options" : { } })",
         "{ " + model + R"(, "session_options" : {)" + option + " } }");
  expect("{" + model + R"(, "session_options": {"a": "\u0031"}})",
         "{" + model + R"(, "session_options": {)" + option + R"(, "a": "\u0031"}})");
  expect("{" + model + R"(, "session_options": {"session.model_external_initializers_file_folder_path":"old"}})",
         "{" + model + R"(, "session_options": {"session.model_external_initializers_file_folder_path":"../s"}})");
}

TEST(InstalledPackage, ReplacesTheLayout) {
  const std::string ort = R"({"model_file": "m.onnx"})";
  const auto changed = installed({{"manifest.json", manifest(ort, R"(, "layout": "portable")")}});
  EXPECT_THAT(changed.at("manifest.json"), HasSubstr(R"(, "layout": "installed"})"));
}

TEST(InstalledPackage, KeepsOtherVariantsUnchanged) {
  EXPECT_THAT(installed({{"manifest.json", manifest(R"({"model_file": "other.onnx"})")}}), ElementsAre());
  EXPECT_THAT(installed({{"manifest.json", manifest(R"({"model_file": "../m.onnx"})")}}), ElementsAre());
  EXPECT_THAT(installed({{"manifest.json", manifest("{}")}}), ElementsAre());
}

TEST(InstalledPackage, EditsAFileOfTheVariant) {
  const auto changed =
      installed({{"manifest.json", manifest(R"("ort.json")")}, {"v/ort.json", R"({"model_file": "m.onnx"})"}});
  ASSERT_THAT(changed, ElementsAre(Pair("manifest.json", HasSubstr(R"("layout": "installed")")),
                                   Pair("v/ort.json", HasSubstr(option))));
}

TEST(InstalledPackage, LeavesOutSharedAssetsWithoutFiles) {
  const std::string ort = R"({"model_file": "other.onnx"})";
  const auto with = [&](const std::string& assets) {
    return installed({{"manifest.json", manifest(ort, R"(, "shared_assets": )" + assets)}});
  };
  EXPECT_THAT(with(R"({"a": "kept", "b": "./kept"})"), ElementsAre());
  EXPECT_THAT(with(R"({"a": "gone", "b\"": "kept"})").at("manifest.json"),
              HasSubstr(R"("shared_assets": {"b\"": "kept"}})"));
  EXPECT_THAT(with(R"({"a": "gone"})").at("manifest.json"), HasSubstr(R"("shared_assets": {}})"));
}

TEST(InstalledPackage, RefusesRepeatedKeys) {
  const std::string ort = R"({"model_file": "m.onnx", "session_options": {"a": "1", "a": "2"}})";
  expect_error(error_of([&] { installed({{"manifest.json", manifest(ort)}}); }),
               {.code = Code::usage_argument, .entry = "manifest.json", .says = {R"(has the key "a" twice)"}});
}

TEST(GenaiWithFolder, EachSessionNamesTheFolder) {
  const std::string text =
      R"({"model": {"type": "x", "decoder": {"session_options": {}, "pipeline": [{"a": {"session_options": )"
      R"({"b": 1}}}, {"c": {}}]}, "vision": {"filename": "v.onnx"}}})";
  EXPECT_EQ(genai_with_folder(text, "../s"),
            std::string(R"({"model": {"type": "x", "decoder": {"session_options": {)") + option +
                R"(}, "pipeline": [{"a": {"session_options": {)" + option +
                R"(, "b": 1}}}, {"c": {}}]}, "vision": {"filename": "v.onnx"}}})");
}

TEST(GenaiWithFolder, DecoderGetsSessionOptions) {
  EXPECT_EQ(genai_with_folder(R"({"model": {"decoder": {"filename": "m.onnx"}}})", "../s"),
            std::string(R"({"model": {"decoder": {"session_options": {)") + option + R"(}, "filename": "m.onnx"}}})");
}

TEST(GenaiWithFolder, KeepsOtherFilesUnchanged) {
  for (const char* const text : {"[]", "{}", R"({"model": 1})", "3"})
    EXPECT_EQ(genai_with_folder(text, "s"), std::nullopt);
}

TEST(GenaiWithFolder, RefusesWhatIsNotJson) {
  for (const char* const text : {"", "{", "\xff", "{'a': 1}", R"({"model": {"a": NaN}})"}) {
    const auto error = error_of([&] { static_cast<void>(genai_with_folder(text, "s")); });
    EXPECT_EQ(error.code(), Code::usage_argument) << text;
    EXPECT_EQ(error.entry(), "genai_config.json") << text;
  }
}

TEST(GenaiWithFolder, FollowsFiveLevelsBelowTheModel) {
  const auto nested = [](int levels, const std::string& options) {
    std::string text = R"({"session_options": {)" + options + "}}";
    for (int i = 0; i < levels; ++i) text = R"({"a": )" + text + "}";
    return R"({"model": )" + text + "}";
  };
  EXPECT_EQ(genai_with_folder(nested(5, ""), "../s"), nested(5, option));
  EXPECT_EQ(genai_with_folder(nested(6, ""), "../s"), nested(6, ""));
}

TEST(GenaiWithFolder, DeepListsAreNotFollowed) {
  const std::string deep = R"({"model": {"a": )" + std::string(100'000, '[') + std::string(100'000, ']') + "}}";
  EXPECT_EQ(genai_with_folder(deep, "s"), deep);
}

}  // namespace
}  // namespace onnxar::testing
