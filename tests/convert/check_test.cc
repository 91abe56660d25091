// `check` of whole files: what it opens and compares, which findings are errors, and what it throws.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "convert/checking.h"
#include "onnxar/convert.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(CheckTest, FindsNothingInAFaultlessArchiveOrModel) {
  EXPECT_THAT(checked(smallest_archive(), {.data = true, .strict = true}), IsEmpty());
  EXPECT_THAT(checked(model_of({floats("w", 3)})), IsEmpty());
  EXPECT_TRUE(passed({}));
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

TEST_F(CheckTest, ThrowsIoErrors) {
  EXPECT_EQ(error_of([this] { static_cast<void>(check(folder_ / "none")); }).code(), Code::io_not_found);
  EXPECT_EQ(error_of([this] { static_cast<void>(check(folder_.path())); }).code(), Code::io_not_a_file);
}

}  // namespace
}  // namespace onnxar::testing
