// Several models become one archive, and come back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "archive/opened.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

constexpr std::size_t elements_of_each = 300;

class FamilyTest : public ::testing::Test {
 protected:
  fs::path file(const std::string& name, const Message& model) { return folder_.write_file(name, model.view()); }
  [[nodiscard]] fs::path output() const { return folder_ / "out.onnxar"; }
  ConvertReport packed(const std::vector<ModelFile>& models) {
    return pack(models, output(), saved_as(Format::archive, over_existing));
  }
  Error refused(const std::vector<ModelFile>& models) {
    return error_of([&] { pack(models, output(), saved_as(Format::archive)); });
  }
  [[nodiscard]] std::vector<std::string> names() const { return names_in(Archive::open(output())); }

  TempDir folder_;
};

TEST_F(FamilyTest, TheFirstIsTheModelAndEqualTensorsShareAnEntry) {
  const auto a = file("a.onnx", model_of({floats("w", elements_of_each, 1), floats("own", elements_of_each, 2)}));
  const auto b = file("b.onnx", model_of({floats("v", elements_of_each, 3), floats("same_as_w", elements_of_each, 1)}));
  const ConvertReport report = packed({{a}, {b, "second"}});
  EXPECT_THAT(names(), ElementsAre("w", "own", "v", "second.onnx", "__MODEL_PROTO"));
  EXPECT_EQ(report.tensors_outside, 4U);
  EXPECT_EQ(report.payloads, 3U);
  EXPECT_EQ(report.payload_bytes, std::size_t{12} * elements_of_each);
  EXPECT_EQ(report.graphs, 1U);
  EXPECT_EQ(report.file_bytes, fs::file_size(output()));
  EXPECT_TRUE(passed(check(output(), {.data = true, .strict = true})));
}

TEST_F(FamilyTest, DryRunReportsTheSameSizes) {
  const auto a = file("a.onnx", model_of({floats("w", elements_of_each, 1)}));
  const auto b = file("b.onnx", model_of({floats("w", elements_of_each, 1), floats("v", elements_of_each, 2)}));
  const ConvertReport told = pack(std::vector<ModelFile>{{a}, {b}}, output(), saved_as(Format::archive, dry_output));
  EXPECT_FALSE(fs::exists(output()));
  EXPECT_EQ(told.file_bytes, packed({{a}, {b}}).file_bytes);
}

// A model that is packed by itself keeps both copies.
TEST_F(FamilyTest, SharesEqualTensorsWithinOneModel) {
  const auto a = file("a.onnx", model_of({floats("w", elements_of_each, 1), floats("again", elements_of_each, 1)}));
  EXPECT_EQ(packed({{a}}).payloads, 1U);
  EXPECT_EQ(pack(a, folder_ / "alone", saved_as(Format::archive)).payloads, 2U);
}

TEST_F(FamilyTest, TypedDataSharesTheEntryOfEqualRawData) {
  const auto raw = file("a.onnx", model_of({tensor("w", dtype::int32, {300}).raw_data(Blob(1200))}));
  const auto typed = file("b.onnx", model_of({tensor("v", dtype::int32, {300}).int32_data(std::vector<int>(300))}));
  EXPECT_EQ(packed({{raw}, {typed}}).payloads, 1U);
  EXPECT_EQ(packed({{typed}, {raw}}).payloads, 1U);
}

TEST_F(FamilyTest, RefusesEqualNamesIgnoringCase) {
  const auto a = file("x/model.onnx", model_of({})), b = file("y/MODEL.onnx", model_of({}));
  expect_error(refused({{a}, {b}}),
               {.code = Code::usage_argument, .path = b, .hint = Hint::name_graph, .says = {"MODEL.onnx"}});
  EXPECT_FALSE(fs::exists(output()));
  packed({{a}, {b, "other"}});
  packed({{a}, {b, "other.onnx"}});
  EXPECT_THAT(names(), ElementsAre("other.onnx", "__MODEL_PROTO"));
}

TEST_F(FamilyTest, AddedFilesMayNotReplaceEachOtherOrAModel) {
  const auto a = file("a.onnx", model_of({})), b = file("b.onnx", model_of({}));
  const auto adding = [&](const std::vector<std::string>& names) {
    SaveOptions save = saved_as(Format::archive);
    for (const std::string& name : names) save.add.push_back({name, b});
    return refusal_of([&] { pack(std::vector<ModelFile>{{a}, {b}}, output(), save); });
  };
  EXPECT_EQ(adding({"b.onnx"}), (ErrorContext{Code::usage_argument, "b.onnx"}));
  EXPECT_EQ(adding({"t.json", "t.json"}), (ErrorContext{Code::usage_argument, "t.json"}));
}

TEST_F(FamilyTest, NamesThatNoGraphCanHaveAreRefused) {
  const auto a = file("a.onnx", model_of({}));
  for (const std::string name : {"a/", "__MODEL", "con", "b\\c", "größe"}) {
    const Error error = refused({{a}, {a, name}});
    EXPECT_EQ(error.code(), Code::usage_argument) << name;
    EXPECT_EQ(refused({{a, name}, {a}}).code(), Code::usage_argument) << name;
  }
  EXPECT_EQ(refused({}).code(), Code::usage_argument);
}

TEST_F(FamilyTest, AFaultNamesTheFileThatHasItAndARemarkTheGraph) {
  const auto good = file("good.onnx", model_of({floats("w", elements_of_each)}));
  const auto bad = file("bad.onnx", model_of({linked_floats("w", elements_of_each, "nowhere")}));
  for (const auto& models : {std::vector<ModelFile>{{good}, {bad}}, std::vector<ModelFile>{{bad}, {good}}}) {
    const Error error = refused(models);
    EXPECT_EQ(error.code(), Code::onnx_external_missing);
    EXPECT_EQ(error.path(), bad);
    EXPECT_TRUE(error.offset().has_value());
  }
  const auto lacking = file("lacking.onnx", model_of({tensor("w", dtype::float32, {3})}));
  const ConvertReport report = packed({{good}, {lacking}});
  ASSERT_THAT(ids_of(report.remarks), ElementsAre("warning onnx.tensor.no_data"));
  EXPECT_EQ(report.remarks[0].place.entry, "lacking.onnx");
}

TEST_F(FamilyTest, ArchivesBringTheirGraphsSideFilesAndName) {
  const auto a = file("a.onnx", model_of({floats("w", elements_of_each, 1)}));
  const auto b = file("b.onnx", model_of({floats("w", elements_of_each, 1), floats("v", elements_of_each, 2)}));
  const auto c = file("c.onnx", model_of({floats("u", elements_of_each, 2)}));
  SaveOptions with_file = saved_as(Format::archive);
  with_file.add.push_back({"t.json", folder_.write_file("t", pattern(5))});
  const fs::path ab = folder_ / "ab.onnxar";
  pack(std::vector<ModelFile>{{a}, {b}}, ab, with_file);
  packed({{c}, {ab}});
  EXPECT_THAT(names(), ElementsAre("u", "w", "t.json", "a.onnx", "b.onnx", "__MODEL_PROTO"));
  packed({{ab}, {c}});
  EXPECT_THAT(names(), ElementsAre("w", "v", "t.json", "b.onnx", "c.onnx", "__MODEL_PROTO"));
  EXPECT_TRUE(passed(check(output(), {.data = true})));
}

/// The value of a key in the metadata_props of an entry, as bytes of protobuf: no code of the library finds it.
bool has_model_name(const fs::path& archive, const std::string& entry) {
  const Archive opened = Archive::open(archive);
  return as_text(opened.bytes(*opened.find(entry))).find("onnxar.model.name") != std::string_view::npos;
}

TEST_F(FamilyTest, MemberThatIsAFamilyBecomesAGraphWithoutName) {
  const auto a = file("a.onnx", model_of({floats("wa", elements_of_each, 1)}));
  const auto b = file("b.onnx", model_of({floats("wb", elements_of_each, 2)}));
  const auto c = file("c.onnx", model_of({floats("wc", elements_of_each, 3)}));
  const fs::path ab = folder_ / "ab.onnxar";
  pack(std::vector<ModelFile>{{a}, {b}}, ab, saved_as(Format::archive));
  packed({{c}, {ab}});
  EXPECT_FALSE(has_model_name(output(), "a.onnx"));
  const Blob direct_bytes = [&] {
    pack(std::vector<ModelFile>{{c}, {a}, {b}}, folder_ / "direct", saved_as(Format::archive));
    return folder_.read_file("direct");
  }();
  EXPECT_EQ(folder_.read_file("out.onnxar"), direct_bytes);
}

class NamedGraph : public FamilyTest {
 protected:
  /// The model of a family, with its name, as a file.
  fs::path named_ = [this] {
    const auto b = file("b.onnx", model_of({}));
    packed({{file("a.onnx", model_of({}))}, {b}});
    const Archive family = Archive::open(output());
    return folder_.write_file("named.onnx", family.model());
  }();
  fs::path other_ = file("other.onnx", model_of({floats("w", elements_of_each, 1)}));
  fs::path archive_ = folder_ / "archive.onnxar";
};

TEST_F(NamedGraph, LosesNameWhenItIsAddedByPack) {
  SaveOptions save = saved_as(Format::archive);
  save.add.push_back({"y.onnx", named_});
  pack(other_, archive_, save);
  EXPECT_FALSE(has_model_name(archive_, "y.onnx"));
}

TEST_F(NamedGraph, LosesNameWhenItIsAddedByReplace) {
  pack(other_, archive_, saved_as(Format::archive));
  ReplaceOptions options;
  options.add.push_back({"y.onnx", named_});
  replace(archive_, options);
  EXPECT_FALSE(has_model_name(archive_, "y.onnx"));
  EXPECT_TRUE(passed(check(archive_, {.data = true})));
}

TEST_F(NamedGraph, LosesNameWhereAnOlderArchiveHasIt) {
  const fs::path old = folder_ / "old.onnxar";
  ArchiveWriter writer = ArchiveWriter::create(old);
  writer.add("y.onnx", folder_.read_file("named.onnx"));
  writer.finish(model_of({}).view());
  ASSERT_TRUE(has_model_name(old, "y.onnx"));
  packed({{old}});
  EXPECT_FALSE(has_model_name(output(), "y.onnx"));
  SaveOptions save = saved_as(Format::archive);
  save.side_files_of = old;
  pack(other_, archive_, save);
  EXPECT_FALSE(has_model_name(archive_, "y.onnx"));
}

TEST_F(FamilyTest, SideFilesOfOneNameMustBeEqual) {
  const auto made = [&](const std::string& name, std::uint32_t seed) {
    SaveOptions save = saved_as(Format::archive);
    save.add.push_back({"t.json", folder_.write_file("t" + name, pattern(5, seed))});
    pack(file(name + ".onnx", model_of({})), folder_ / name, save);
    return folder_ / name;
  };
  const fs::path a = made("a", 1), b = made("b", 1), c = made("c", 2);
  packed({{a}, {b}});
  EXPECT_THAT(names(), ElementsAre("t.json", "b.onnx", "__MODEL_PROTO"));
  expect_error(refused({{a}, {c}}), {.code = Code::usage_argument, .entry = "t.json", .path = c});
}

TEST_F(FamilyTest, UnpackRestoresEveryModelByteForByte) {
  const Message a = model_of({floats("w", elements_of_each, 1)}),
                b = model_of({floats("w", elements_of_each, 1), floats("v", elements_of_each, 2)});
  packed({{file("a.onnx", a)}, {file("b.onnx", b)}});
  unpack(output(), folder_ / "back/", saved_as(Format::onnx_inline));
  EXPECT_EQ(folder_.read_file("back/a.onnx"), a.view());
  EXPECT_EQ(folder_.read_file("back/b.onnx"), b.view());
}

TEST_F(FamilyTest, DamageInDataThatIsNotWrittenIsFound) {
  const auto a = file("a.onnx", model_of({floats("w", elements_of_each, 1)}));
  const fs::path archive = folder_ / "damaged";
  pack(file("b.onnx", model_of({floats("w", elements_of_each, 2)})), archive, saved_as(Format::archive));
  Blob bytes = folder_.read_file("damaged");  // the bytes become those of `a`, and the CRC-32 stays
  std::ranges::copy(pattern(4 * elements_of_each, 1), bytes.begin() + 64);
  folder_.write_file("damaged", bytes);
  EXPECT_EQ(refused({{a}, {archive}}).code(), Code::zip_data_crc);
}

}  // namespace
}  // namespace onnxar::testing
