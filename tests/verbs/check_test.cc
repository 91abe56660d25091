// `check` reports every fault and every remark, with severity and place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "onnxar/convert.h"
#include "support/samples.h"
#include "support/special_files.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CheckTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<Finding> checked(const Blob& file, const CheckOptions& options = {}) const {
    return check(folder_.write_file("file", file), options);
  }
  [[nodiscard]] std::vector<Finding> checked(const Built& archive, const CheckOptions& options = {}) const {
    return checked(archive.bytes, options);
  }
  [[nodiscard]] std::vector<Finding> checked(const Message& model) const { return checked(model.view()); }

  /// Expects one finding, at this tensor of this plain model.
  void expect_finding(const Message& model, const Message& tensor, Severity severity, Code code) const {
    expect_only(checked(model), severity, code, "", place_in(model.view(), tensor));
  }
  /// Expects one finding, at this tensor of an archive of the model and these entries.
  void expect_finding_in_archive(const Message& tensor, const std::vector<ZipEntry>& entries, Severity severity,
                                 Code code) const {
    const Built archive = archive_of(model_of({tensor}), entries);
    expect_only(checked(archive), severity, code, "__MODEL_PROTO", place_in(archive.bytes, tensor));
  }
  static void expect_only(const std::vector<Finding>& findings, Severity severity, Code code, const std::string& entry,
                          std::optional<std::uint64_t> offset) {
    ASSERT_THAT(ids_of(findings), ElementsAre(std::string(to_string(severity)) + " " + std::string(id(code))));
    EXPECT_EQ(findings[0].place.entry, entry) << to_string(findings[0]);
    EXPECT_EQ(findings[0].place.offset, offset) << to_string(findings[0]);
    EXPECT_EQ(passed(findings), severity != Severity::error);
  }

  TempDir folder_;
};

CheckOptions strict() {
  CheckOptions options;
  options.strict = true;
  return options;
}

CheckOptions with_data() {
  CheckOptions options;
  options.data = true;
  return options;
}

TEST_F(CheckTest, AFaultlessArchiveOrModelGivesNoFindings) {
  CheckOptions everything = with_data();
  everything.strict = true;
  EXPECT_THAT(checked(smallest_archive(), everything), IsEmpty());
  EXPECT_THAT(checked(model_of({floats("w", 3)})), IsEmpty());
  EXPECT_TRUE(passed({}));
}

TEST_F(CheckTest, RawDataShorterThanItsShapeIsAnErrorAndLongerAWarning) {
  const Message shorter = tensor("w", dtype::float32, {3}).raw_data(pattern(11));
  expect_finding(model_of({shorter}), shorter, Severity::error, Code::onnx_tensor_length);
  const Message longer = tensor("w", dtype::float32, {3}).raw_data(pattern(13));
  expect_finding(model_of({longer}), longer, Severity::warning, Code::onnx_tensor_long_raw);
  expect_finding_in_archive(shorter, {}, Severity::error, Code::onnx_tensor_length);
  EXPECT_THAT(checked(model_of({tensor("w", 27, {3}).raw_data(pattern(13))})), IsEmpty()) << "the type is unknown";
}

TEST_F(CheckTest, ElementsWithoutDataAreAWarning) {
  const Message open = tensor("w", dtype::float32, {3});
  expect_finding(model_of({open}), open, Severity::warning, Code::onnx_tensor_no_data);
  expect_finding_in_archive(open, {}, Severity::warning, Code::onnx_tensor_no_data);
  EXPECT_THAT(checked(model_of({tensor("none", dtype::float32, {3, 0})})), IsEmpty());
  const Message strings = tensor("strings", dtype::string, {3});
  expect_finding(model_of({strings}), strings, Severity::warning, Code::onnx_tensor_no_data);
}

TEST_F(CheckTest, ValuesThatReadersOfOnnxRefuseAreErrors) {
  const auto w = [] { return tensor("w", dtype::float32, {3}); };
  for (const auto& [tensor, code] : {
           std::pair(w().float_data({1, 2}), Code::onnx_tensor_length),
           std::pair(w().float_data({1, 2, 3}).int32_data({1}), Code::onnx_tensor_data_beside),
           std::pair(w().float_data({1, 2, 3}).raw_data(pattern(12)), Code::onnx_tensor_data_beside),
           std::pair(w().int32_data({1, 2, 3}), Code::onnx_tensor_wrong_field),
           std::pair(TensorBuilder("s", dtype::string, {3}).raw_data(pattern(3)), Code::onnx_tensor_wrong_field),
           std::pair(TensorBuilder("w", dtype::undefined, {3}).raw_data(pattern(3)), Code::onnx_tensor_no_type),
           std::pair(TensorBuilder("w", dtype::float32, {0}).raw_data(pattern(4)), Code::onnx_tensor_length),
       }) {
    expect_finding(model_of({tensor}), tensor, Severity::error, code);
    expect_finding_in_archive(tensor, {}, Severity::error, code);
  }
}

TEST_F(CheckTest, ALinkedTensorWithoutATypeIsAnError) {
  const Message untyped = tensor("w", dtype::undefined, {256}).external("w", 0, 1024);
  expect_finding_in_archive(untyped, {zip_entry("w", pattern(1024))}, Severity::error, Code::onnx_tensor_no_type);
}

TEST_F(CheckTest, StaleRawDataBesideExternalDataOfAPlainModelIsAnError) {
  folder_.write_file("w.bin", pattern(1024));
  const Message stale = linked_floats("w", 256, "w.bin").raw_data(pattern(1024, 9));
  expect_finding(model_of({stale}), stale, Severity::error, Code::onnx_external_data_beside);
}

TEST_F(CheckTest, MoreTypedValuesThanTheShapeCallsForAreAWarning) {
  const Message longer = tensor("w", dtype::float32, {2}).float_data({1, 2, 3});
  expect_finding(model_of({longer}), longer, Severity::warning, Code::onnx_tensor_long_typed);
}

TEST_F(CheckTest, APlainModelThatIsNamedLikeAnArchiveIsAWarning) {
  const Message model = model_of({floats("w", 3)});
  for (const char* name : {"m.onnxar", "m.ONNXAR"}) {
    const auto findings = check(folder_.write_file(name, model.view()));
    expect_only(findings, Severity::warning, Code::archive_plain_model, "", std::nullopt);
    EXPECT_EQ(findings.at(0).advice.hint, Hint::pack_or_rename);
  }
  for (const char* name : {"m.onnx", "onnxar", "m.onnxar.onnx"}) {
    EXPECT_THAT(check(folder_.write_file(name, model.view())), IsEmpty()) << name;
  }
  EXPECT_THAT(check(folder_.write_file("archive.onnxar", smallest_archive().bytes)), IsEmpty());
}

TEST_F(CheckTest, WhatIsNoModelEitherIsNotCalledOneForItsName) {
  EXPECT_THAT(ids_of(check(folder_.write_file("m.onnxar", blob("\x08\x07")))), ElementsAre("error onnx.model.invalid"));
}

TEST_F(CheckTest, MessagesNameTheTensorAndItsSite) {
  const Message bad = tensor("w", dtype::float32, {3}).raw_data(pattern(11));
  const auto findings = checked(model({.graph = graph({.nodes = {constant("y", bad)}})}));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].message, HasSubstr("tensor \"w\" (graph.node[0].attr.value)"));
  EXPECT_THAT(findings[0].message, HasSubstr("11 bytes"));
}

TEST_F(CheckTest, ALinkToNothingIsAnError) {
  expect_finding_in_archive(linked_floats("w", 256, "none"), {}, Severity::error, Code::onnx_external_missing);
  const Message tensor = linked_floats("w", 256, "none");
  expect_finding(model_of({tensor}), tensor, Severity::error, Code::onnx_external_missing);
}

TEST_F(CheckTest, OffsetsAndLengthsThatAreWrongAreErrors) {
  const auto in_w = [](const TensorBuilder& tensor, Code code) { return std::pair(tensor, code); };
  const auto w = [](std::int64_t count) { return tensor("w", dtype::float32, {count}); };
  for (const auto& [tensor, code] : {
           in_w(w(256).external("w", 4, 1024), Code::onnx_external_out_of_range),
           in_w(w(256).external("w", 1025), Code::onnx_external_out_of_range),
           in_w(w(257).external("w"), Code::onnx_external_out_of_range),
           in_w(w(257).external("w", 0, 1024), Code::onnx_tensor_length),
           in_w(w(255).external("w", 0, 1024), Code::onnx_tensor_length),
           in_w(w(256).external("w").external_data("offset", "-4"), Code::onnx_external_bad_offset),
           in_w(w(256).external("w").external_data("length", " 1024"), Code::onnx_external_bad_length),
           in_w(w(256).data_location(1), Code::onnx_external_no_location),
           in_w(w(256).external("#onnxar:1:0"), Code::onnx_external_marker),
           in_w(w(256).external("*/_ORT_MEM_ADDR_/*"), Code::onnx_external_marker),
           in_w(w(256).external("w").raw_data(pattern(1024, 9)), Code::onnx_external_data_beside),
           in_w(TensorBuilder("w", dtype::string, {1}).external("w"), Code::onnx_external_string),
       }) {
    const Message valid = linked_floats("valid", 256, "w");
    const Built archive = archive_of(model_of({valid, tensor}), {zip_entry("w", pattern(1024))});
    expect_only(checked(archive), Severity::error, code, "__MODEL_PROTO", place_in(archive.bytes, tensor));
  }
}

TEST_F(CheckTest, EveryTensorIsLookedAt) {
  const Message proto = model_of({linked_floats("a", 256, "none"), linked_floats("b", 256, "w"),
                                  linked_floats("c", 256, "none"), tensor("d", dtype::int8, {2}).raw_data(pattern(1))});
  EXPECT_THAT(
      ids_of(checked(archive_of(proto, {zip_entry("w", pattern(1024))}))),
      ElementsAre("error onnx.external_data.missing", "error onnx.external_data.missing", "error onnx.tensor.length"));
}

TEST_F(CheckTest, SmallExternalDataIsAWarning) {
  expect_finding_in_archive(linked_floats("w", 255, "w"), {zip_entry("w", pattern(1020))}, Severity::warning,
                            Code::onnx_external_small);
  folder_.write_file("w.bin", pattern(4));
  const Message tensor = linked_floats("w", 1, "w.bin");
  expect_finding(model_of({tensor}), tensor, Severity::warning, Code::onnx_external_small);
}

TEST_F(CheckTest, DataThatBeginsAtNoMultipleOf64IsAWarning) {
  expect_finding_in_archive(linked_floats("w", 256, "w", 32), {zip_entry("w", pattern(2048))}, Severity::warning,
                            Code::onnx_external_unaligned);
  folder_.write_file("w.bin", pattern(2048));
  const Message tensor = linked_floats("w", 256, "w.bin", 65);
  expect_finding(model_of({tensor}), tensor, Severity::warning, Code::onnx_external_unaligned);
}

TEST_F(CheckTest, AnUnknownKeyOfExternalDataIsAWarning) {
  expect_finding_in_archive(linked_floats("w", 256, "w").external_data("prepacked_0", "x"),
                            {zip_entry("w", pattern(1024))}, Severity::warning, Code::onnx_external_unknown_key);
}

TEST_F(CheckTest, AKeyThatIsNoIdentifierIsAWarningInAnArchive) {
  expect_finding_in_archive(linked_floats("w", 256, "w.bin"), {zip_entry("w.bin", pattern(1024))}, Severity::warning,
                            Code::archive_key_not_identifier);
  folder_.write_file("w.bin", pattern(1024));
  EXPECT_THAT(checked(model_of({linked_floats("w", 256, "w.bin")})), IsEmpty()) << "a file name is not a key";
}

TEST_F(CheckTest, SharedDataIsANoteAtTheSecondTensor) {
  const Message second = linked_floats("second", 256, "w");
  const Built archive =
      archive_of(model_of({linked_floats("first", 256, "w"), second}), {zip_entry("w", pattern(1024))});
  const auto findings = checked(archive, strict());
  expect_only(findings, Severity::note, Code::archive_entry_shared, "__MODEL_PROTO", place_in(archive.bytes, second));
  EXPECT_THAT(findings.at(0).message, HasSubstr("tensor \"first\" (graph.initializer[0])"));
}

TEST_F(CheckTest, SlicesThatOverlapAreAWarning) {
  const auto in_w = [](std::string_view name, std::uint64_t offset) { return linked_floats(name, 256, "w", offset); };
  const auto findings_for = [this](const Messages& tensors) {
    return ids_of(checked(archive_of(model_of(tensors), {zip_entry("w", pattern(4096))})));
  };
  const std::string overlap = "warning archive.entry.overlapping_links";
  EXPECT_THAT(findings_for({in_w("a", 0), in_w("b", 1024), in_w("c", 2048)}), IsEmpty());
  EXPECT_THAT(findings_for({in_w("a", 0), in_w("b", 960)}), ElementsAre(overlap));
  EXPECT_THAT(findings_for({in_w("b", 960), in_w("a", 0)}), ElementsAre(overlap));
  EXPECT_THAT(findings_for({linked_floats("all", 1024, "w"), in_w("a", 1024), in_w("b", 3072)}),
              ElementsAre(overlap, overlap));
}

TEST_F(CheckTest, AnOverlapNamesBothAndStandsAtTheLaterSlice) {
  const Message a = linked_floats("a", 256, "w", 960);
  const Built archive = archive_of(model_of({a, linked_floats("b", 256, "w")}), {zip_entry("w", pattern(4096))});
  const auto findings = checked(archive);
  expect_only(findings, Severity::warning, Code::archive_entry_overlapping_links, "__MODEL_PROTO",
              place_in(archive.bytes, a));
  EXPECT_THAT(findings.at(0).message, HasSubstr("\"b\""));
}

TEST_F(CheckTest, AnEntryThatNoTensorNamesIsAWarningUnlessItIsASideFile) {
  const Built archive = archive_of(
      model_of({linked_floats("w", 256, "w")}),
      {zip_entry("old", pattern(5)), zip_entry("w", pattern(1024)), zip_entry("README.md", blob("read me"))});
  expect_only(checked(archive), Severity::warning, Code::archive_entry_unused, "old",
              archive.entry("old").header_offset);
}

TEST_F(CheckTest, AfterAnEditUnusedEntriesAndEarlierStatesAreNotes) {
  const Built first = smallest_archive();
  const Built edited = append_edit(first, model_of({floats("other", 3)}).take());
  const std::uint64_t behind_w = first.entry("w").data_offset + 1024;
  const auto findings = checked(edited);
  ASSERT_THAT(ids_of(findings), ElementsAre("note archive.tail.superseded", "note archive.entry.unused"));
  EXPECT_EQ(findings[0].place.offset, behind_w);
  EXPECT_EQ(findings[1].place.entry, "w");
  EXPECT_THAT(ids_of(checked(edited, strict())),
              ElementsAre("error archive.tail.superseded", "note archive.entry.unused"));
}

TEST_F(CheckTest, StrictMakesErrorsOfWarnings) {
  const Built archive = archive_of(model_of({linked_floats("w", 1, "w")}), {zip_entry("w", pattern(4))});
  EXPECT_TRUE(passed(checked(archive)));
  EXPECT_THAT(ids_of(checked(archive, strict())), ElementsAre("error onnx.external.small"));
  EXPECT_FALSE(passed(checked(archive, strict())));
}

TEST_F(CheckTest, AModelThatCannotBeWalkedIsOneErrorAtItsPlace) {
  const Message bad = Message().string(tensor_field::name, "bad").signed_varint(tensor_field::dims, -1);
  const Built archive = archive_of(model_of({linked_floats("w", 256, "w"), bad}),
                                   {zip_entry("w", pattern(1024)), zip_entry("unused", pattern(4))});
  expect_only(checked(archive), Severity::error, Code::onnx_tensor_dims, "__MODEL_PROTO",
              place_in(archive.bytes, bad) + 5);
}

TEST_F(CheckTest, ATruncatedModelIsAnError) {
  const Blob whole = model_of({floats("w", 30)}).take();
  Blob cut(whole.begin(), whole.begin() + 40);
  const auto findings = checked(cut);
  ASSERT_THAT(ids_of(findings), ElementsAre("error wire.truncated"));
  EXPECT_TRUE(findings[0].place.offset);
  const Built archive = archive_of(Message().raw(cut));
  const auto in_archive = checked(archive);
  ASSERT_THAT(ids_of(in_archive), ElementsAre("error wire.truncated"));
  EXPECT_EQ(in_archive[0].place.entry, "__MODEL_PROTO");
  EXPECT_EQ(in_archive[0].place.offset, archive.entry(model_entry).data_offset + *findings[0].place.offset);
}

TEST_F(CheckTest, WhatIsNoModelIsAnError) {
  EXPECT_THAT(ids_of(checked(Blob())), ElementsAre("error onnx.model.invalid"));
  EXPECT_THAT(ids_of(checked(blob("\x08\x07"))), ElementsAre("error onnx.model.invalid"));
  EXPECT_THAT(ids_of(checked(archive_of(Message()))), ElementsAre("error onnx.model.invalid"));
}

TEST_F(CheckTest, AKeyGivenTwiceIsAnErrorOfTheWholeModel) {
  const Message twice = linked_floats("w", 256, "w").external_data("length", "1024");
  const auto findings = checked(archive_of(model_of({twice}), {zip_entry("w", pattern(1024))}));
  EXPECT_THAT(ids_of(findings), ElementsAre("error onnx.external_data.duplicate_key"));
}

TEST_F(CheckTest, DataIsComparedWithItsCrcOnlyWhenAsked) {
  Built archive = smallest_archive();
  flip_bit(archive.bytes, archive.entry("w").data_offset);
  EXPECT_THAT(checked(archive), IsEmpty());
  expect_only(checked(archive, with_data()), Severity::error, Code::zip_data_crc, "w", archive.entry("w").data_offset);
}

TEST_F(CheckTest, EveryDamagedEntryIsNamedTheModelToo) {
  Built archive = smallest_archive();
  flip_bit(archive.bytes, archive.entry("w").data_offset);
  const auto producer = place_in(archive.bytes, Message().raw(blob("onnxar.test")));
  flip_bit(archive.bytes, producer);
  EXPECT_THAT(ids_of(checked(archive, with_data())), ElementsAre("error zip.data.crc", "error zip.data.crc"));
}

TEST_F(CheckTest, ABrokenDirectoryEndsTheCheckWithOneError) {
  Built archive = smallest_archive();
  put_u16(archive.bytes, archive.entry("w").central_offset + 8, 1);  // the encryption flag
  EXPECT_THAT(ids_of(checked(archive)), ElementsAre("error zip.entry.encrypted"));
}

TEST_F(CheckTest, ABrokenLocalHeaderIsOneErrorAndTheRestIsStillChecked) {
  ZipBuilder builder;
  builder.entries = {zip_entry("w", pattern(1024)), zip_entry("unused", pattern(4)),
                     zip_entry(model_entry, model_of({linked_floats("w", 256, "w")}).view())};
  builder.entry("w").local.name = "v";
  EXPECT_THAT(ids_of(checked(builder.build_placed())),
              ElementsAre("error zip.local.name", "warning archive.entry.unused"));
}

TEST_F(CheckTest, AnEntryThatABrokenLinkNamesIsNotUnused) {
  expect_finding_in_archive(linked_floats("w", 256, "w", 4), {zip_entry("w", pattern(1024))}, Severity::error,
                            Code::onnx_external_out_of_range);
}

TEST_F(CheckTest, ABrokenHeaderOfTheModelLeavesItUnread) {
  ZipBuilder builder = smallest_builder();
  builder.entry(model_entry).local.name = "__MODEL_PR0TO";
  EXPECT_THAT(ids_of(checked(builder.build_placed())), ElementsAre("error zip.local.name"));
}

TEST_F(CheckTest, ExternalDataOfAPlainModelIsFollowed) {
  const Message tensor = linked_floats("w", 256, "w.bin");
  const Message proto = model_of({tensor});
  folder_.write_file("w.bin", pattern(1024));
  EXPECT_THAT(checked(proto), IsEmpty());
  folder_.write_file("w.bin", pattern(1023));
  expect_finding(proto, tensor, Severity::error, Code::onnx_external_out_of_range);
  std::filesystem::create_directory(folder_ / "other");
  CheckOptions elsewhere;
  elsewhere.load.external_data_dir = folder_ / "other";
  EXPECT_THAT(ids_of(checked(proto.view(), elsewhere)), ElementsAre("error onnx.external_data.missing"));
}

TEST_F(CheckTest, LinksOutOfTheFolderAreErrors) {
  ONNXAR_NEEDS_SYMLINKS();
  folder_.write_file("secret", pattern(1024));
  folder_.write_file("model/m.onnx", model_of({linked_floats("a", 256, "../secret"), linked_floats("b", 256, "link"),
                                               linked_floats("c", 256, "/etc/passwd")})
                                         .view());
  make_symlink("../secret", folder_ / "model/link");
  EXPECT_THAT(ids_of(check(folder_ / "model/m.onnx")),
              ElementsAre("error onnx.external_data.bad_location", "error onnx.external_data.outside",
                          "error onnx.external_data.bad_location"));
}

TEST_F(CheckTest, ADataFileThatCannotBeMappedIsAnErrorAtItsTensor) {
  std::filesystem::create_directory(folder_ / "sub");
  const Message tensor = linked_floats("w", 256, "sub");
  expect_finding(model_of({tensor}), tensor, Severity::error, Code::io_not_a_file);
}

TEST_F(CheckTest, WhatTheMachineRefusesIsThrown) {
  EXPECT_EQ(error_of([this] { static_cast<void>(check(folder_ / "none")); }).code(), Code::io_not_found);
  EXPECT_EQ(error_of([this] { static_cast<void>(check(folder_.path())); }).code(), Code::io_not_a_file);
}

}  // namespace
}  // namespace onnxar::testing
