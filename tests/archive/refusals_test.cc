// Errors of zip files that are not archives: the fault, and the advice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "onnxar/archive.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

std::optional<Error> error_of_opening(const Blob& bytes, const OpenOptions& options = {}) {
  return error_of([&] { return Archive::open(bytes, nullptr, options).size(); });
}

std::optional<ErrorContext> refusal_of_opening(const Blob& bytes, const OpenOptions& options = {}) {
  return refusal_of([&] { return Archive::open(bytes, nullptr, options).size(); });
}

/// What a caller is told who opens the file and reads all of it.
std::string advice(const Blob& bytes) {
  const auto error = error_of([&] {
    const Archive archive = Archive::open(bytes, nullptr);
    for (std::size_t i = 0; i < archive.size(); ++i) static_cast<void>(archive.bytes(archive.entry(i)));
  });
  return error ? error->what() : "accepted";
}

template <typename Change>
Built changed_archive(const Change& change) {
  ZipBuilder builder = smallest_builder();
  change(builder);
  return builder.build_placed();
}

TEST(Opening, FileThatIsMissingIsNotFound) {
  const TempDir folder;
  const auto error = error_of([&] { return Archive::open(folder / "none"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::io_not_found);
  EXPECT_EQ(error->path(), folder / "none");
}

TEST(Opening, ErrorNamesThePathAndThePlace) {
  const TempDir folder;
  const fs::path path = folder.write_file("a.onnxar", "no zip file at all, but long enough for one");
  const auto error = error_of([&] { return Archive::open(path); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::zip_end_missing);
  EXPECT_EQ(error->path(), path);
  EXPECT_EQ(error->offset(), 43U);
}

TEST(Opening, EmptyFileIsRefused) {
  const TempDir folder;
  EXPECT_EQ(code_of([&] { return Archive::open(folder.write_file("a", "")); }), Code::zip_end_missing);
}

TEST(Opening, OnnxFileIsRefused) { EXPECT_EQ(error_of_opening(smallest_model())->code(), Code::zip_end_missing); }

TEST(Opening, ModelMustBeThere) {
  const Built built = changed_archive([](ZipBuilder& b) { b.entries.pop_back(); });
  EXPECT_EQ(refusal_of_opening(built.bytes), (ErrorContext{Code::archive_model_missing, "", built.directory_offset}));
}

TEST(Opening, ModelMustBeLast) {
  const Built built = changed_archive([](ZipBuilder& b) { std::swap(b.entries[0], b.entries[1]); });
  EXPECT_EQ(refusal_of_opening(built.bytes), (ErrorContext{Code::archive_model_not_last, std::string(model_entry),
                                                           built.entry(model_entry).central_offset}));
}

TEST(Opening, ModelMayBeTheOnlyEntry) {
  const Built built = changed_archive([](ZipBuilder& b) { b.entries.erase(b.entries.begin()); });
  EXPECT_EQ(refusal_of_opening(built.bytes), std::nullopt);
}

TEST(Opening, ModelIsAtMostAsLargeAsTheLimit) {
  const Built built = smallest_archive();
  const PlacedEntry& model = built.entry(model_entry);
  OpenOptions options;
  options.max_model_size = model.data_size;
  EXPECT_EQ(refusal_of_opening(built.bytes, options), std::nullopt);
  --options.max_model_size;
  EXPECT_EQ(refusal_of_opening(built.bytes, options),
            (ErrorContext{Code::archive_model_too_large, std::string(model_entry), model.central_offset}));
}

TEST(Opening, LimitsOfTheDirectoryArePassedOn) {
  OpenOptions options;
  options.max_entries = 1;
  EXPECT_EQ(error_of_opening(smallest_archive().bytes, options)->code(), Code::zip_limit_entries);
  options = {};
  options.max_directory_size = 100;
  EXPECT_EQ(error_of_opening(smallest_archive().bytes, options)->code(), Code::zip_limit_directory);
}

TEST(Opening, ReservedNamesAreRefused) {
  for (const std::string name : {"__A", "__MODEL", "__MODEL_PROTO2", "__Zebra", "__EXTERNAL"}) {
    const Built built = changed_archive([&](ZipBuilder& b) { b.entries[0].name = name; });
    EXPECT_EQ(refusal_of_opening(built.bytes),
              (ErrorContext{Code::archive_name_reserved, name, built.entry(name).central_offset}));
    EXPECT_THAT(std::string(error_of_opening(built.bytes)->what()), HasSubstr("a newer reader is needed"));
  }
}

TEST(Opening, NamesLikeReservedOnesAreFine) {
  for (const std::string name : {"__", "_A", "__a", "__1A", "___A", "___", "x__A", "a/__A"}) {
    const Built built = changed_archive([&](ZipBuilder& b) { b.entries[0].name = name; });
    EXPECT_EQ(refusal_of_opening(built.bytes), std::nullopt) << name;
  }
}

// A plain zip is not damaged: it only has to be converted to an archive.
TEST(PlainZip, WithoutPaddingNamesRepack) {
  const Built all = changed_archive([](ZipBuilder& b) {
    for (ZipEntry& entry : b.entries) entry.local.extra = Blob();
  });
  EXPECT_THAT(advice(all.bytes), HasSubstr("repack"));
}

TEST(PlainZip, WithOtherExtraFieldsNamesRepack) {
  const auto with_extra = [](const Blob& extra) {
    return changed_archive([&](ZipBuilder& b) {
             for (ZipEntry& entry : b.entries) entry.local.extra = extra;
           })
        .bytes;
  };
  EXPECT_THAT(advice(with_extra(extra_record(0x5455, Blob(9)))), HasSubstr("repack"));   // as Info-ZIP has it
  EXPECT_THAT(advice(with_extra(extra_record(0x4246, Blob(40)))), HasSubstr("repack"));  // as PyTorch has it
  EXPECT_THAT(advice(with_extra(zeros(33))), HasSubstr("repack"));                       // as zipalign has it
}

TEST(PlainZip, DeflatedOrStreamedNamesRepack) {
  const Built deflated = changed_archive([](ZipBuilder& b) { b.entries[0] = deflated_entry("w", pattern(1024)); });
  EXPECT_THAT(advice(deflated.bytes), HasSubstr("repack"));
  const Built streamed = changed_archive([](ZipBuilder& b) { b.entries[0] = streamed_entry("w", pattern(1024)); });
  EXPECT_THAT(advice(streamed.bytes), HasSubstr("repack"));
}

TEST(PlainZip, WithItsModelFirstNamesRepack) {
  const Built built = changed_archive([](ZipBuilder& b) { std::swap(b.entries[0], b.entries[1]); });
  EXPECT_THAT(advice(built.bytes), HasSubstr("repack"));
}

TEST(PlainZip, WithACommentNamesRepack) {
  EXPECT_THAT(advice(changed_archive([](ZipBuilder& b) { b.comment = "made by hand"; }).bytes), HasSubstr("repack"));
  EXPECT_THAT(advice(changed_archive([](ZipBuilder& b) { b.entries[0].central.comment = "x"; }).bytes),
              HasSubstr("repack"));
}

TEST(PlainZip, AfterAPrefixOrInAnotherOrderNamesRepack) {
  EXPECT_THAT(advice(changed_archive([](ZipBuilder& b) { b.prefix = blob("#!/bin/sh\n"); }).bytes),
              HasSubstr("repack"));
  EXPECT_THAT(advice(changed_archive([](ZipBuilder& b) { b.directory_order = {{1, 0}}; }).bytes), HasSubstr("repack"));
}

TEST(PlainZip, OfPythonNamesRepack) {
  const TempDir folder;
  folder.write_file("w", pattern(1024));
  folder.write_file("__MODEL_PROTO", smallest_model());
  const std::string in_folder = "cd " + folder.path().string() + " && /usr/bin/python3 -c \"import zipfile;";
  for (const char* const method : {"ZIP_STORED", "ZIP_DEFLATED"}) {
    const std::string script = "z = zipfile.ZipFile('a.zip', 'w', zipfile." + std::string(method) +
                               "); z.write('w'); z.write('__MODEL_PROTO'); z.close()\"";
    if (std::system((in_folder + script).c_str()) != 0) GTEST_SKIP() << "no Python";
    EXPECT_THAT(advice(folder.read_file("a.zip")), HasSubstr("repack")) << method;
  }
}

TEST(BrokenZip, DoesNotNameRepack) {
  Built cut = smallest_archive();
  truncate(cut.bytes, cut.bytes.size() - 1);
  EXPECT_THAT(advice(cut.bytes), Not(HasSubstr("repack")));
  const Built encrypted = changed_archive([](ZipBuilder& b) { b.entries[0].central.flags = std::uint16_t{1}; });
  EXPECT_THAT(advice(encrypted.bytes), Not(HasSubstr("repack")));
  const Built twice = changed_archive([](ZipBuilder& b) { b.entries.insert(b.entries.begin(), b.entries[0]); });
  EXPECT_THAT(advice(twice.bytes), Not(HasSubstr("repack")));
}

}  // namespace
}  // namespace onnxar::testing
