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
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

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

const CheckOptions strict = {.strict = true}, with_data = {.data = true};

/// A finding at one tensor, and the size of the entry or file that the tensor names.
struct Row {
  std::string_view name;
  Message tensor;
  Severity severity;
  Code code;
  std::size_t size = 1024;
};

TensorBuilder w_of(std::int64_t count, std::uint64_t type = dtype::float32) { return tensor("w", type, {count}); }

TEST_F(CheckTest, FindsNothingInAFaultlessArchiveOrModel) {
  EXPECT_THAT(checked(smallest_archive(), {.data = true, .strict = true}), IsEmpty());
  EXPECT_THAT(checked(model_of({floats("w", 3)})), IsEmpty());
  EXPECT_TRUE(passed({}));
}

TEST_F(CheckTest, FaultsOfATensorAreAtItsPlace) {
  const Row rows[] = {
      {"shorter raw data", w_of(3).raw_data(pattern(11)), Severity::error, Code::onnx_tensor_length},
      {"longer raw data", w_of(3).raw_data(pattern(13)), Severity::warning, Code::onnx_tensor_long_raw},
      {"raw data of no elements", w_of(0).raw_data(pattern(4)), Severity::error, Code::onnx_tensor_length},
      {"no data", w_of(3), Severity::warning, Code::onnx_tensor_no_data},
      {"no strings", w_of(3, dtype::string), Severity::warning, Code::onnx_tensor_no_data},
      {"fewer values", w_of(3).float_data({1, 2}), Severity::error, Code::onnx_tensor_length},
      {"more values", w_of(2).float_data({1, 2, 3}), Severity::warning, Code::onnx_tensor_long_typed},
      {"two lists of values", w_of(3).float_data({1, 2, 3}).int32_data({1}), Severity::error,
       Code::onnx_tensor_data_beside},
      {"values and raw data", w_of(3).float_data({1, 2, 3}).raw_data(pattern(12)), Severity::error,
       Code::onnx_tensor_data_beside},
      {"values of another type", w_of(3).int32_data({1, 2, 3}), Severity::error, Code::onnx_tensor_wrong_field},
      {"raw strings", w_of(3, dtype::string).raw_data(pattern(3)), Severity::error, Code::onnx_tensor_wrong_field},
      {"no type", w_of(3, dtype::undefined).raw_data(pattern(3)), Severity::error, Code::onnx_tensor_no_type},
      {"a link to nothing", linked_floats("w", 256, "none"), Severity::error, Code::onnx_external_missing},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    expect_finding(model_of({row.tensor}), row.tensor, row.severity, row.code);
    if (row.severity == Severity::warning) expect_finding_in_archive(row.tensor, {}, row.severity, row.code);
  }
  EXPECT_THAT(checked(model_of({w_of(3, 99).raw_data(pattern(13))})), IsEmpty()) << "the type is unknown";
  EXPECT_THAT(checked(model_of({tensor("none", dtype::float32, {3, 0})})), IsEmpty());
}

TEST_F(CheckTest, SaysWhyLinkIsNotFollowed) {
  const auto findings = checked(model_of({linked_floats("w", 256, "w.bin").data_location(0)}));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].code, Code::onnx_tensor_no_data);
  EXPECT_NE(findings[0].message.find("link to \"w.bin\" counts only if data_location is EXTERNAL"), std::string::npos);
}

TEST_F(CheckTest, FaultsOfALinkToAFileAreAtItsTensor) {
  const Row rows[] = {
      {"raw data beside", linked_floats("w", 256, "w.bin").raw_data(pattern(1024, 9)), Severity::error,
       Code::onnx_external_data_beside},
      {"the same data beside", linked_floats("w", 256, "w.bin").raw_data(pattern(1024)), Severity::warning,
       Code::onnx_external_data_beside},
      {"small data", linked_floats("w", 1, "w.bin"), Severity::warning, Code::onnx_external_small, 4},
      {"an offset of 65", linked_floats("w", 256, "w.bin", 65), Severity::warning, Code::onnx_external_unaligned, 2048},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    folder_.write_file("w.bin", pattern(row.size));
    expect_finding(model_of({row.tensor}), row.tensor, row.severity, row.code);
  }
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

TEST_F(CheckTest, MessagesNameTheTensorAndItsSite) {
  const Message bad = tensor("w", dtype::float32, {3}).raw_data(pattern(11));
  const auto findings = checked(model({.graph = graph({.nodes = {constant("y", bad)}})}));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].message, HasSubstr("tensor \"w\" (graph.node[0].attr.value)"));
  EXPECT_THAT(findings[0].message, HasSubstr("11 bytes"));
}

TEST_F(CheckTest, ChecksEveryTensor) {
  const Message proto = model_of({linked_floats("a", 256, "none"), linked_floats("b", 256, "w"),
                                  linked_floats("c", 256, "none"), tensor("d", dtype::int8, {2}).raw_data(pattern(1))});
  EXPECT_THAT(
      ids_of(checked(archive_of(proto, {zip_entry("w", pattern(1024))}))),
      ElementsAre("error onnx.external_data.missing", "error onnx.external_data.missing", "error onnx.tensor.length"));
}

TEST_F(CheckTest, ReportsMissingDataFileOnce) {
  const Message proto = model_of({linked_floats("a", 256, "none"), linked_floats("b", 256, "other"),
                                  linked_floats("c", 256, "none"), linked_floats("d", 256, "none")});
  const auto findings = check(folder_.write_file("m.onnx", proto.view()));
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_THAT(findings[0].message, HasSubstr("tensor \"a\""));
  EXPECT_THAT(findings[0].message, EndsWith("; 3 tensors have their data in \"none\""));
  EXPECT_THAT(findings[1].message, HasSubstr("tensor \"b\""));
  EXPECT_THAT(findings[1].message, Not(HasSubstr("tensors have their data")));
}

TEST_F(CheckTest, RemarksAboutALinkAreAtItsTensor) {
  const Row rows[] = {
      {"an unknown key", linked_floats("w", 256, "w").external_data("prepacked_0", "x"), Severity::warning,
       Code::onnx_external_unknown_key},
      {"a small slice", linked_floats("w", 255, "w"), Severity::warning, Code::onnx_external_small, 1020},
      {"an offset of 32", linked_floats("w", 256, "w", 32), Severity::warning, Code::onnx_external_unaligned, 2048},
      {"an offset that leaves the entry, which is still used", linked_floats("w", 256, "w", 4), Severity::error,
       Code::onnx_external_out_of_range},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    expect_finding_in_archive(row.tensor, {zip_entry("w", pattern(row.size))}, row.severity, row.code);
  }
}

TEST_F(CheckTest, WarnsOfDataThatIsNotAlignedToElements) {
  const auto message_of = [this](std::uint64_t offset) {
    const auto findings =
        checked(archive_of(model_of({linked_floats("w", 256, "w", offset)}), {zip_entry("w", pattern(2048))}));
    return findings.size() == 1 ? findings[0].message : "";
  };
  EXPECT_THAT(message_of(3), HasSubstr("nor of the size of its elements (4 bytes)"));
  EXPECT_THAT(message_of(62), HasSubstr("nor of the size of its elements (4 bytes)"));
  EXPECT_THAT(message_of(4), HasSubstr("does not begin at a multiple of 64 bytes"));
  EXPECT_THAT(message_of(4), Not(HasSubstr("elements")));
}

// This holds only in archives: elsewhere the name is that of a file.
TEST_F(CheckTest, KeyThatIsNotAnIdentifierIsAWarning) {
  expect_finding_in_archive(linked_floats("w", 256, "w.bin"), {zip_entry("w.bin", pattern(1024))}, Severity::warning,
                            Code::archive_key_not_identifier);
  folder_.write_file("w.bin", pattern(1024));
  EXPECT_THAT(checked(model_of({linked_floats("w", 256, "w.bin")})), IsEmpty()) << "a file name is not a key";
}

TEST_F(CheckTest, SharedDataIsANoteAtTheSecondTensor) {
  const Message second = linked_floats("second", 256, "w");
  const Built archive =
      archive_of(model_of({linked_floats("first", 256, "w"), second}), {zip_entry("w", pattern(1024))});
  const auto findings = checked(archive, strict);
  expect_only(findings, Severity::note, Code::archive_entry_shared, "__MODEL_PROTO", place_in(archive.bytes, second));
  EXPECT_THAT(findings.at(0).message, HasSubstr("tensor \"first\" (graph.initializer[0])"));
}

TEST_F(CheckTest, WarnsOfOverlapAtTheLaterSlice) {
  const Message a = linked_floats("a", 256, "w", 960), b = linked_floats("b", 256, "w"),
                all = linked_floats("all", 1024, "w"), c = linked_floats("c", 256, "w", 1024),
                d = linked_floats("d", 256, "w", 3072);
  const auto archive = [](const Messages& tensors) {
    return archive_of(model_of(tensors), {zip_entry("w", pattern(4096))});
  };
  const std::string overlap = "warning archive.entry.overlapping_links";
  EXPECT_THAT(checked(archive({b, c, d})), IsEmpty());
  EXPECT_THAT(ids_of(checked(archive({b, a}))), ElementsAre(overlap));
  EXPECT_THAT(ids_of(checked(archive({all, c, d}))), ElementsAre(overlap, overlap));
  const auto findings = checked(archive({a, b}));
  expect_only(findings, Severity::warning, Code::archive_entry_overlapping_links, "__MODEL_PROTO",
              place_in(archive({a, b}).bytes, a));
  EXPECT_THAT(findings.at(0).message, HasSubstr("\"b\""));
}

TEST_F(CheckTest, WarnsOfUnusedEntryThatIsNotASideFile) {
  const Built archive = archive_of(
      model_of({linked_floats("w", 256, "w")}),
      {zip_entry("old", pattern(5)), zip_entry("w", pattern(1024)), zip_entry("README.md", blob("read me"))});
  expect_only(checked(archive), Severity::warning, Code::archive_entry_unused, "old",
              archive.entry("old").header_offset);
}

TEST_F(CheckTest, NotesUnusedEntriesAndStatesAfterAnEdit) {
  const Built first = smallest_archive();
  const Built edited = append_edit(first, model_of({floats("other", 3)}).take());
  const std::uint64_t behind_w = first.entry("w").data_offset + 1024;
  const auto findings = checked(edited);
  ASSERT_THAT(ids_of(findings), ElementsAre("note archive.tail.superseded", "note archive.entry.unused"));
  EXPECT_EQ(findings[0].place.offset, behind_w);
  EXPECT_EQ(findings[1].place.entry, "w");
  EXPECT_THAT(ids_of(checked(edited, strict)),
              ElementsAre("error archive.tail.superseded", "note archive.entry.unused"));
}

TEST_F(CheckTest, StrictMakesErrorsOfWarnings) {
  const Built archive = archive_of(model_of({linked_floats("w", 1, "w")}), {zip_entry("w", pattern(4))});
  EXPECT_TRUE(passed(checked(archive)));
  EXPECT_THAT(ids_of(checked(archive, strict)), ElementsAre("error onnx.external.small"));
  EXPECT_FALSE(passed(checked(archive, strict)));
}

TEST_F(CheckTest, AModelThatCannotBeWalkedIsOneErrorAtItsPlace) {
  const Message bad = Message().string(tensor_field::name, "bad").signed_varint(tensor_field::dims, -1);
  const Built archive = archive_of(model_of({linked_floats("w", 256, "w"), bad}),
                                   {zip_entry("w", pattern(1024)), zip_entry("unused", pattern(4))});
  expect_only(checked(archive), Severity::error, Code::onnx_tensor_dims, "__MODEL_PROTO",
              place_in(archive.bytes, bad) + 5);
}

TEST_F(CheckTest, ATruncatedModelIsAnErrorAtAPlace) {
  const Blob whole = model_of({floats("w", 30)}).take();
  const auto findings = checked(Blob(whole.begin(), whole.begin() + 40));
  ASSERT_THAT(ids_of(findings), ElementsAre("error wire.truncated"));
  EXPECT_TRUE(findings[0].place.offset);
}

TEST_F(CheckTest, InvalidModelIsAnErrorUnderAnyName) {
  EXPECT_THAT(ids_of(checked(Blob())), ElementsAre("error onnx.model.invalid"));
  EXPECT_THAT(ids_of(checked(blob("\x08\x07"))), ElementsAre("error onnx.model.invalid"));
  EXPECT_THAT(ids_of(checked(archive_of(Message()))), ElementsAre("error onnx.model.invalid"));
  EXPECT_THAT(ids_of(check(folder_.write_file("m.onnxar", blob("\x08\x07")))), ElementsAre("error onnx.model.invalid"));
}

TEST_F(CheckTest, ComparesCrcOnlyWithDataOption) {
  Built archive = smallest_archive();
  flip_bit(archive.bytes, archive.entry("w").data_offset);
  EXPECT_THAT(checked(archive), IsEmpty());
  expect_only(checked(archive, with_data), Severity::error, Code::zip_data_crc, "w", archive.entry("w").data_offset);
  flip_bit(archive.bytes, place_in(archive.bytes, Message().raw(blob("onnxar.test"))));
  EXPECT_THAT(ids_of(checked(archive, with_data)), ElementsAre("error zip.data.crc", "error zip.data.crc"));
}

// If the broken header is the model's, the rest cannot be checked.
TEST_F(CheckTest, ChecksTheRestAfterABrokenLocalHeader) {
  ZipBuilder builder;
  builder.entries = {zip_entry("w", pattern(1024)), zip_entry("unused", pattern(4)),
                     zip_entry(model_entry, model_of({linked_floats("w", 256, "w")}).view())};
  ZipBuilder of_model = builder;
  builder.entry("w").local.name = "v";
  EXPECT_THAT(ids_of(checked(builder.build_placed())),
              ElementsAre("error zip.local.name", "warning archive.entry.unused"));
  of_model.entry(model_entry).local.name = "__MODEL_PR0TO";
  EXPECT_THAT(ids_of(checked(of_model.build_placed())), ElementsAre("error zip.local.name"));
}

TEST_F(CheckTest, ExternalDataOfAPlainModelIsFollowed) {
  const Message tensor = linked_floats("w", 256, "w.bin");
  const Message proto = model_of({tensor});
  folder_.write_file("w.bin", pattern(1024));
  EXPECT_THAT(checked(proto), IsEmpty());
  folder_.write_file("w.bin", pattern(1023));
  expect_finding(proto, tensor, Severity::error, Code::onnx_external_out_of_range);
  std::filesystem::create_directory(folder_ / "other");
  EXPECT_THAT(ids_of(checked(proto.view(), {.load = {.external_data_dir = folder_ / "other"}})),
              ElementsAre("error onnx.external_data.missing"));
  std::filesystem::create_directory(folder_ / "sub");
  const Message to_folder = linked_floats("w", 256, "sub");
  expect_finding(model_of({to_folder}), to_folder, Severity::error, Code::onnx_external_missing);
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

TEST_F(CheckTest, ThrowsIoErrors) {
  EXPECT_EQ(error_of([this] { static_cast<void>(check(folder_ / "none")); }).code(), Code::io_not_found);
  EXPECT_EQ(error_of([this] { static_cast<void>(check(folder_.path())); }).code(), Code::io_not_a_file);
}

}  // namespace
}  // namespace onnxar::testing
