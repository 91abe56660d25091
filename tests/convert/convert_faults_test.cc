// A conversion that cannot succeed reports where and why, and leaves no file.
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

namespace fs = std::filesystem;

const std::vector<Format>& all_formats() {
  static const std::vector<Format> formats = {Format::archive, Format::onnx_inline, Format::onnx_external};
  return formats;
}

class ConvertFaultsTest : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path inline_model() const {
    return folder_.write_file("in", model_of({floats("a", 256, 1), floats("b", 300, 2)}).view());
  }
  /// Expects this error for every form of output.
  void expect_refused_always(const fs::path& input, Code code, const std::string& entry,
                             std::optional<std::uint64_t> offset, const LoadOptions& load = {}) const {
    for (const Format format : all_formats())
      expect_refused(folder_, input, saved_as(format), code, entry, offset, load);
  }
  void expect_data_file_refused(const std::string& name) const {
    SCOPED_TRACE(name);
    SaveOptions options = saved_as(Format::onnx_external);
    options.data_file = name;
    const Error error = expect_refused(folder_, inline_model(), options, Code::usage_argument, "", std::nullopt);
    EXPECT_EQ(error.path(), folder_ / "out");
  }

  TempDir folder_;
};

TEST_F(ConvertFaultsTest, ExistingOutputIsNotReplaced) {
  const fs::path input = inline_model();
  folder_.write_file("out", "precious");
  for (const Format format : all_formats()) {
    const Error error = expect_refused(folder_, input, saved_as(format), Code::output_exists, "", std::nullopt);
    EXPECT_EQ(error.path(), folder_ / "out");
    expect_refused(folder_, input, saved_as(format, dry_output), Code::output_exists, "", std::nullopt);
  }
  EXPECT_EQ(folder_.read_text("out"), "precious");
}

TEST_F(ConvertFaultsTest, ExistingDataFileIsNotReplaced) {
  folder_.write_file("w.bin", "precious");
  const Error error =
      expect_refused(folder_, inline_model(), saved_as(Format::onnx_external), Code::output_exists, "", std::nullopt);
  EXPECT_EQ(error.path(), folder_ / "w.bin");
  EXPECT_EQ(folder_.read_text("w.bin"), "precious");
}

TEST_F(ConvertFaultsTest, TheInputIsNotReplacedUnasked) {
  const fs::path input = inline_model();
  const Blob before = folder_.read_file("in");
  for (const Format format : all_formats()) {
    EXPECT_EQ(error_of([&] { pack_or_unpack(input, input, saved_as(format)); }).code(), Code::output_exists);
  }
  EXPECT_EQ(folder_.read_file("in"), before);
}

TEST_F(ConvertFaultsTest, FolderIsNotReplacedByAnArchive) {
  fs::create_directory(folder_ / "out");
  const SaveOptions archive = saved_as(Format::archive, over_existing);
  expect_refused(folder_, inline_model(), archive, Code::io_not_a_file, "", std::nullopt);
}

TEST_F(ConvertFaultsTest, AFolderThatIsNotThereIsNotMade) {
  const fs::path input = inline_model();
  for (const Format format : all_formats()) {
    EXPECT_EQ(error_of([&] { pack_or_unpack(input, folder_ / "none/out", saved_as(format)); }).code(),
              Code::io_not_found);
  }
  EXPECT_THAT(folder_.file_names(), ::testing::ElementsAre("in"));
}

TEST_F(ConvertFaultsTest, AnInputThatIsNotThereLeavesNoOutput) {
  expect_refused_always(folder_ / "none", Code::io_not_found, "", std::nullopt);
}

TEST_F(ConvertFaultsTest, DamagedDataIsNeverPublished) {
  Built archive = archive_of(model_of({linked_floats("a", 256, "a"), linked_floats("b", 300, "b")}),
                             {zip_entry("a", pattern(1024)), zip_entry("b", pattern(1200))});
  flip_bit(archive.bytes, archive.entry("b").data_offset + 1199);
  const fs::path input = folder_.write_file("in", archive.bytes);
  expect_refused_always(input, Code::zip_data_crc, "b", archive.entry("b").data_offset);
  EXPECT_NO_THROW(unpack(input, folder_ / "out", saved_as(Format::onnx_inline), {.verify_data = false}));
}

TEST_F(ConvertFaultsTest, DamagedDataKeepsAnOlderOutput) {
  Built archive = archive_of(model_of({linked_floats("a", 256, "a")}), {zip_entry("a", pattern(1024))});
  flip_bit(archive.bytes, archive.entry("a").data_offset);
  const fs::path input = folder_.write_file("in", archive.bytes);
  folder_.write_file("out", "older");
  folder_.write_file("w.bin", "older data");
  for (const Format format : all_formats()) {
    expect_refused(folder_, input, saved_as(format, over_existing), Code::zip_data_crc, "a",
                   archive.entry("a").data_offset);
  }
  EXPECT_EQ(folder_.read_text("out"), "older");
  EXPECT_EQ(folder_.read_text("w.bin"), "older data");
}

TEST_F(ConvertFaultsTest, DamageOutsideASliceIsDamageOfItsEntry) {
  Built archive = archive_of(model_of({linked_floats("a", 256, "a", 64)}), {zip_entry("a", pattern(2048))});
  flip_bit(archive.bytes, archive.entry("a").data_offset);
  expect_refused_always(folder_.write_file("in", archive.bytes), Code::zip_data_crc, "a",
                        archive.entry("a").data_offset);
}

TEST_F(ConvertFaultsTest, DamageOfTheModelOrOfASideFileIsSeen) {
  const Built archive = archive_of(model_of({floats("a", 3)}), {zip_entry("note.txt", blob("note"))});
  Blob damaged = archive.bytes;
  flip_bit(damaged,
           archive.entry(model_entry).data_offset + place_in(archive.data_of(model_entry), floats("a", 3)) + 20);
  expect_refused_always(folder_.write_file("in", damaged), Code::zip_data_crc, "__MODEL_PROTO",
                        archive.entry(model_entry).data_offset);
  damaged = archive.bytes;
  flip_bit(damaged, archive.entry("note.txt").data_offset);
  expect_refused(folder_, folder_.write_file("in", damaged), saved_as(Format::archive), Code::zip_data_crc, "note.txt",
                 archive.entry("note.txt").data_offset);
}

TEST_F(ConvertFaultsTest, FaultsOfALinkAreAtTheTensorInEveryForm) {
  const Message tensor = linked_floats("a", 256, "none");
  const Message proto = model_of({floats("first", 3), tensor});
  const Built archive = archive_of(proto, {zip_entry("a", pattern(1024))});
  expect_refused_always(folder_.write_file("in", archive.bytes), Code::onnx_external_missing, "__MODEL_PROTO",
                        place_in(archive.bytes, tensor));
  expect_refused_always(folder_.write_file("in", proto.view()), Code::onnx_external_missing, "",
                        place_in(proto.view(), tensor));
}

TEST_F(ConvertFaultsTest, LinksOutOfTheFolderAreRefused) {
  ONNXAR_NEEDS_SYMLINKS();
  folder_.write_file("secret", pattern(1024));
  folder_.write_file("model/sub/x", "");
  make_symlink("../secret", folder_ / "model/link");
  const auto refused = [this](std::string_view location, Code code) {
    const Message tensor = linked_floats("a", 256, location);
    const Message proto = model_of({tensor});
    expect_refused_always(folder_.write_file("model/in", proto.view()), code, "", place_in(proto.view(), tensor));
  };
  refused("link", Code::onnx_external_outside);
  refused("../secret", Code::onnx_external_bad_location);
  refused("sub/../../secret", Code::onnx_external_bad_location);
  refused((folder_ / "secret").string(), Code::onnx_external_bad_location);
}

TEST_F(ConvertFaultsTest, AnArchiveNeverReadsFilesBesideIt) {
  folder_.write_file("w.bin", pattern(1024));
  const Message tensor = linked_floats("a", 256, "w.bin");
  const Built archive = archive_of(model_of({tensor}));
  expect_refused_always(folder_.write_file("in", archive.bytes), Code::onnx_external_missing, "__MODEL_PROTO",
                        place_in(archive.bytes, tensor), {});
}

TEST_F(ConvertFaultsTest, AnInlineModelOf2GiBIsRefusedAndTheWayOutNamed) {
  if (sizeof(std::size_t) < sizeof(std::uint64_t)) GTEST_SKIP() << "data of 2 GiB does not fit in memory";
  constexpr std::uint64_t two_gib = 1ULL << 31U;
  const Message proto =
      model_of({tensor("w", dtype::uint8, {static_cast<std::int64_t>(two_gib - 1)}).external("big", {}, two_gib - 1)});
  const fs::path input = folder_.write_file("in", proto.view());
  fs::resize_file(folder_.write_file("big", ""), two_gib);  // sparse: takes no disk space
  const Error error =
      expect_refused(folder_, input, saved_as(Format::onnx_inline), Code::onnx_model_too_large, "", std::nullopt);
  EXPECT_EQ(error.path(), folder_ / "out");
  EXPECT_EQ(error.advice().hint, Hint::external_data);
  SaveOptions dry = saved_as(Format::archive, dry_output);
  EXPECT_GT(pack_or_unpack(input, folder_ / "out", dry).file_bytes, two_gib);
  dry.threshold = 1ULL << 40U;
  expect_refused(folder_, input, dry, Code::onnx_model_too_large, "", std::nullopt);
}

TEST_F(ConvertFaultsTest, ASkeletonBeyondTheLimitIsRefused) {
  const Message proto = model_of({floats("w", 256), floats("v", 25)});
  const fs::path input = folder_.write_file("in", proto.view());
  for (const Format format : {Format::archive, Format::onnx_external}) {
    const Error error = expect_refused(folder_, input, saved_as(format), Code::onnx_model_too_large, "", std::nullopt,
                                       {.max_skeleton_size = 100});
    EXPECT_EQ(error.path(), input);
    EXPECT_EQ(error.advice().hint, Hint::lower_threshold);
  }
}

TEST_F(ConvertFaultsTest, AnAlignmentThatCannotBeIsRefused) {
  const fs::path input = inline_model();
  const auto refused = [&](Format format, std::uint64_t alignment) {
    SaveOptions options = saved_as(format);
    options.alignment = alignment;
    const Error error = expect_refused(folder_, input, options, Code::usage_argument, "", std::nullopt);
    EXPECT_EQ(error.path(), folder_ / "out");
  };
  for (const std::uint64_t alignment : {0U, 1U, 32U, 65U, 96U, 65536U}) refused(Format::archive, alignment);
  for (const std::uint64_t alignment : {0U, 3U, 65535U, 131072U}) refused(Format::onnx_external, alignment);
}

TEST_F(ConvertFaultsTest, ADataFileMustBeAPlainNameBesideTheModel) {
  using namespace std::string_literals;
  for (const std::string& name :
       {""s, "."s, ".."s, "a/b"s, "/abs"s, "../x"s, "a/"s, "out"s, "#x"s, "a\0b"s, "a..b"s, "..a"s, "a.."s, "..."s})
    expect_data_file_refused(name);
  expect_data_file_refused((folder_ / "abs").string());
}

TEST_F(ConvertFaultsTest, TheModelsNameMayNotLeadToItsDataFile) {
  ONNXAR_NEEDS_SYMLINKS();
  make_symlink("w.bin", folder_ / "out");
  const fs::path input = inline_model();
  for (const OutputOptions& output : {unsynced_output, over_existing}) {
    expect_refused(folder_, input, saved_as(Format::onnx_external, output), Code::usage_argument, "", std::nullopt);
  }
}

TEST_F(ConvertFaultsTest, TheDataFilesNameMayNotLeadElsewhere) {
  ONNXAR_NEEDS_SYMLINKS();
  folder_.write_file("other", "precious");
  make_symlink("other", folder_ / "w.bin");
  const fs::path input = inline_model();
  expect_refused(folder_, input, saved_as(Format::onnx_external, over_existing), Code::usage_argument, "", {});
  EXPECT_EQ(folder_.read_text("other"), "precious");
}

TEST_F(ConvertFaultsTest, ABrokenArchiveIsRefusedWithItsPath) {
  Built archive = smallest_archive();
  truncate(archive.bytes, archive.bytes.size() - 1);
  const fs::path input = folder_.write_file("in", archive.bytes);
  for (const Format format : all_formats()) {
    const std::vector<std::string> before = folder_.file_names();
    const Error error = error_of([&] { pack_or_unpack(input, folder_ / "out", saved_as(format)); });
    EXPECT_EQ(kind(error.code()), Kind::format);
    EXPECT_EQ(error.path(), input);
    EXPECT_EQ(folder_.file_names(), before);
  }
}

TEST_F(ConvertFaultsTest, ErrorsAboutSideFilesNameEntryAndFile) {
  const fs::path file = folder_.write_file("t.json", "{}");
  const fs::path input = inline_model();
  SaveOptions options = saved_as(Format::archive);
  options.add = {{"key", file}};
  EXPECT_EQ(expect_refused(folder_, input, options, Code::usage_argument, "key", std::nullopt).path(), file);
  options.add = {{"t.json", file}};
  options.rename = {{"t.json", "t.onnx"}};
  EXPECT_EQ(expect_refused(folder_, input, options, Code::usage_argument, "t.json", std::nullopt).path(),
            folder_ / "out");
  options.rename = {};
  options.format = Format::onnx_inline;
  EXPECT_EQ(expect_refused(folder_, input, options, Code::usage_argument, "", std::nullopt).path(), folder_ / "out");
  const Error error = error_of([&] { pack(input, folder_ / "out", options); });
  EXPECT_EQ(error.path(), folder_ / "out");
}

}  // namespace
}  // namespace onnxar::testing
