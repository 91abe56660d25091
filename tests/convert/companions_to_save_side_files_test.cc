// Conversions keep side files in archives and folders, and take those of a replaced archive.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "convert/converting.h"
#include "onnxar/convert.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file of a model leaves them out.
TEST_F(ConvertTest, KeepsSideFilesInArchivesAndFolders) {
  const Message proto = model_of({linked_floats("w", 256, "w")});
  const std::vector<ZipEntry> kept = {zip_entry("w", pattern(1024)), zip_entry("tokenizer.json", blob("{}")),
                                      zip_entry("docs/a.md", pattern(5000))};
  std::vector<ZipEntry> with_rest = kept;
  with_rest.insert(with_rest.begin(), zip_entry("left_over", pattern(9)));
  const Blob archive = archive_of(proto, with_rest).bytes;
  EXPECT_EQ(converted(archive, saved_as(Format::archive)), archive_of(proto, kept).bytes);
  EXPECT_THAT(ids_of(report_.remarks), ElementsAre("note archive.entry.unused"));
  EXPECT_THAT(report_.remarks.at(0).message, HasSubstr("the entry \"left_over\" (9 bytes)"));
  EXPECT_EQ(unpacked(archive), model_of({floats("w", 256)}).view());
  EXPECT_THAT(ids_of(report_.remarks), ElementsAre("note archive.entry.unused"));
  EXPECT_EQ(report_.side_files, 0U);
  EXPECT_EQ(report_.side_files_left_out, 2U);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "tokenizer.json"));
  const ConvertReport report =
      unpack(folder_.write_file("m.onnxar", archive), folder_ / "all/", saved_as(Format::onnx_inline));
  EXPECT_EQ(report.side_files, 2U);
  EXPECT_EQ(report.side_files_left_out, 0U);
  EXPECT_EQ(report.model_path, folder_ / "all/m.onnx");
  EXPECT_EQ(folder_.read_file("all/m.onnx"), model_of({floats("w", 256)}).view());
  EXPECT_EQ(folder_.read_file("all/tokenizer.json"), blob("{}"));
  EXPECT_EQ(folder_.read_file("all/docs/a.md"), pattern(5000));
}

// A side file of the model or of the caller replaces one of its name.
TEST_F(ConvertTest, KeepsSideFilesOfTheReplacedArchive) {
  const Message proto = model_of({linked_floats("w", 256, "w")});
  const ZipEntry weight = zip_entry("w", pattern(1024));
  const Blob replaced = archive_of(proto, {zip_entry("left_over", pattern(9)), weight, zip_entry("a.txt", blob("old")),
                                           zip_entry("b/c.txt", blob("kept")), zip_entry("d.txt", blob("old"))})
                            .bytes;
  const Blob input = archive_of(proto, {weight, zip_entry("a.txt", blob("of the model"))}).bytes;
  SaveOptions options = saved_as(Format::archive);
  options.side_files_of = folder_.write_file("replaced", replaced);
  options.add = {{"d.txt", folder_.write_file("given", blob("given"))}};
  const Blob expected = archive_of(proto, {weight, zip_entry("a.txt", blob("of the model")),
                                           zip_entry("b/c.txt", blob("kept")), zip_entry("d.txt", blob("given"))})
                            .bytes;
  EXPECT_EQ(converted(input, options), expected);
  EXPECT_EQ(report_.side_files, 3U);
}

// A file that is not a zip has no side files.
TEST_F(ConvertTest, RefusesBrokenArchiveForSideFiles) {
  const Message proto = model_of({linked_floats("w", 256, "w")});
  const Built archive = archive_of(proto, {zip_entry("w", pattern(1024)), zip_entry("a.txt", blob("old"))});
  SaveOptions options = saved_as(Format::archive);
  for (const Blob& none : {Blob(), blob("text"), proto.view()}) {
    options.side_files_of = folder_.write_file("replaced", none);
    static_cast<void>(packed(model_of({floats("w", 256)}), options));
    EXPECT_EQ(report_.side_files, 0U);
  }
  Blob damaged = archive.bytes;
  flip_bit(damaged, archive.entry("a.txt").data_offset);
  options.side_files_of = folder_.write_file("replaced", damaged);
  const fs::path input = folder_.write_file("in", archive_of(model_of({})).bytes);
  fs::remove(folder_ / "out");
  expect_refused(folder_, input, options, Code::zip_data_crc, "a.txt", archive.entry("a.txt").data_offset);
  options.side_files_of = folder_.write_file("replaced", copy_of(Bytes(archive.bytes).first(archive.bytes.size() - 1)));
  const Error error = error_of([&] { pack_or_unpack(input, folder_ / "out", options); });
  EXPECT_EQ(error.path(), folder_ / "replaced");
  EXPECT_THAT(error.message(), ::testing::HasSubstr("side files"));
  options = saved_as(Format::onnx_inline);
  options.side_files_of = folder_ / "replaced";
  EXPECT_EQ(error_of([&] { pack_or_unpack(input, folder_ / "out", options); }).code(), Code::usage_argument);
}

TEST_F(ConvertTest, KeysAvoidFoldersOfSideFiles) {
  const Blob archive = archive_of(model_of({linked_floats("Docs", 256, "k")}),
                                  {zip_entry("k", pattern(1024)), zip_entry("docs/a", blob("a"))})
                           .bytes;
  EXPECT_EQ(converted(archive, saved_as(Format::archive)),
            archive_of(model_of({linked_floats("Docs", 256, "Docs_2")}),
                       {zip_entry("Docs_2", pattern(1024)), zip_entry("docs/a", blob("a"))})
                .bytes);
}

}  // namespace
}  // namespace onnxar::testing
