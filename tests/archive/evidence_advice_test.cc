// Advice of errors, above all for zip files that are not archives. The vectors of spec/vectors show each refusal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <utility>

#include "archive/evidence.h"
#include "onnxar/archive.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

/// What a caller is told who opens the file and reads all of it.
std::string advice(const Blob& bytes) {
  const auto error = error_if_any([&] {
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

TEST(Opening, ErrorNamesThePathAndThePlace) {
  const TempDir folder;
  const fs::path path = folder.write_file("a.onnxar", "no zip file at all, but long enough for one");
  expect_error(error_if_any([&] { return Archive::open(path); }),
               {.code = Code::zip_end_missing, .offset = 43U, .path = path});
}

TEST(Opening, FaultThatFirstUseFindsHasAdvice) {
  Built built = smallest_archive();
  put_u16(built.bytes, built.entry(model_entry).header_offset + 30 + std::string_view(model_entry).size(), 0x5455);
  const Archive archive = Archive::open(built.bytes, nullptr);
  const Error error = error_of([&] { static_cast<void>(archive.model()); });
  EXPECT_EQ(error.code(), Code::zip_extra_unknown);
  EXPECT_EQ(error.advice().hint, Hint::repack_plain_zip);
  // An error of another file is not explained by this one.
  const Error of_another(Code::zip_extra_unknown, "wrong", {}, "another");
  EXPECT_EQ(Evidence{.archive = &archive}(of_another).advice().hint, Hint::none);
}

TEST(Opening, AReservedNameNeedsANewerReader) {
  const Built built = changed_archive([](ZipBuilder& b) { b.entries[0].name = "__A"; });
  EXPECT_THAT(advice(built.bytes), HasSubstr("a newer reader is needed"));
}

// A plain zip is not damaged: it only has to be converted to an archive.
TEST(PlainZip, NamesRepackInEveryForm) {
  const auto with_extra = [](const Blob& extra) {
    return [=](ZipBuilder& b) {
      for (ZipEntry& entry : b.entries) entry.local.extra = extra;
    };
  };
  const std::pair<std::string_view, std::function<void(ZipBuilder&)>> changes[] = {
      {"no padding", with_extra({})},
      {"extra fields of Info-ZIP", with_extra(extra_record(0x5455, Blob(9)))},
      {"extra fields of PyTorch", with_extra(extra_record(0x4246, Blob(40)))},
      {"padding of zipalign", with_extra(zeros(33))},
      {"deflated", [](ZipBuilder& b) { b.entries[0] = deflated_entry("w", pattern(1024)); }},
      {"streamed", [](ZipBuilder& b) { b.entries[0] = streamed_entry("w", pattern(1024)); }},
      {"the model first", [](ZipBuilder& b) { std::swap(b.entries[0], b.entries[1]); }},
      {"a comment", [](ZipBuilder& b) { b.comment = "made by hand"; }},
      {"a comment of an entry", [](ZipBuilder& b) { b.entries[0].central.comment = "x"; }},
      {"a prefix", [](ZipBuilder& b) { b.prefix = blob("#!/bin/sh\n"); }},
      {"another order", [](ZipBuilder& b) { b.directory_order = {{1, 0}}; }},
  };
  for (const auto& [name, change] : changes) {
    EXPECT_THAT(advice(changed_archive(change).bytes), HasSubstr("repack")) << name;
  }
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
