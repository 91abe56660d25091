// Zip files that cannot be repacked, and outputs that cannot be written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "convert/repacking.h"
#include "onnxar/archive_writer.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/system_calls.h"

namespace onnxar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

namespace fs = std::filesystem;
class RepackFaultsTest : public RepackTest {};

TEST_F(RepackFaultsTest, DamagedDataIsNeverPublished) {
  for (const bool conforming : {true, false}) {
    Built built =
        conforming
            ? smallest_archive()
            : zip_file_of({plain_entry(zip_entry("w", pattern(1024))), plain_entry(zip_entry("m.onnx", blob("m")))})
                  .build_placed();
    flip_bit(built.bytes, built.entry("w").data_offset + 1000);
    expect_refused(built.bytes, {Code::zip_data_crc, "w", built.entry("w").data_offset});
  }
  Built model = smallest_archive();
  flip_bit(model.bytes, model.entry(model_entry).data_offset);
  expect_refused(model.bytes, {Code::zip_data_crc, std::string(model_entry), model.entry(model_entry).data_offset});
}

TEST_F(RepackFaultsTest, DeflatedDataOfAnotherSizeIsRefused) {
  ZipBuilder builder =
      zip_file_of({plain_entry(deflated_entry("w", pattern(1000))), plain_entry(zip_entry("m.onnx", blob("m")))});
  for (const std::uint64_t size : {999U, 1001U}) {
    builder.entry("w").in_both([=](HeaderFields& header) { header.usize = size; });
    const Built built = builder.build_placed();
    expect_refused(built.bytes, {Code::zip_data_inflate, "w", built.entry("w").data_offset});
  }
}

TEST_F(RepackFaultsTest, RefusesDeflatedEntriesThatExpandTooMuch) {
  // The bytes are never looked at: what the directory says is enough.
  ZipBuilder builder =
      zip_file_of({plain_entry(deflated_entry("a", pattern(1000))), plain_entry(deflated_entry("b", pattern(1000))),
                   plain_entry(zip_entry("m.onnx", blob("m")))});
  for (const char* name : {"a", "b"}) {
    builder.entry(name).in_both([](HeaderFields& header) { header.usize = 100'000; });
  }
  const Built built = builder.build_placed();
  expect_refused(built.bytes, {Code::zip_limit_expansion, "a", built.entry("a").central_offset});
  const std::uint64_t needed = 200'001 / built.bytes.size() + 1;
  RepackOptions options = quick();
  options.max_expansion = needed - 1;
  EXPECT_THAT(expect_refused(built.bytes, {Code::zip_limit_expansion, "b", built.entry("b").central_offset}, options),
              ::testing::HasSubstr("max_expansion = " + std::to_string(needed)));
  options.max_expansion = 2 * needed;
  expect_refused(built.bytes, {Code::zip_data_inflate, "a", built.entry("a").data_offset}, options);
}

TEST_F(RepackFaultsTest, DoesNotSearchAModelThatExpandsTooMuch) {
  ZipBuilder builder = zip_file_of({plain_entry(deflated_entry(model_entry, pattern(100)))});
  builder.entries[0].in_both([](HeaderFields& header) { header.usize = 100'000; });
  const Built built = builder.build_placed();
  expect_refused(built.bytes,
                 {Code::zip_limit_expansion, std::string(model_entry), built.entry(model_entry).central_offset});
}

// It may if the caller asks for it.
TEST_F(RepackFaultsTest, AlignmentOfTheInputMayNotExpandTheOutput) {
  ZipBuilder builder = zip_file_of({plain_entry(zip_entry("m.onnx", blob("m")))});
  Blob alignment(2);
  put_u16(alignment, 0, 32768);
  for (int i = 0; i < 20; ++i) {
    builder.entries.push_back(plain_entry(zip_entry("a" + std::to_string(i), blob("x"))));
    builder.entries.back().local.extra = extra_record(0xd935, alignment);
  }
  const Blob bytes = builder.build();
  expect_refused(bytes, {Code::zip_limit_expansion, "", std::nullopt});
  RepackOptions options = quick();
  options.alignment = 32768;  // the caller's wish
  EXPECT_GT(repacked(bytes, options).size(), 20U * 32768);
}

TEST_F(RepackFaultsTest, WhatHasTwoReadingsIsRefused) {
  ZipBuilder overlap = smallest_builder();
  overlap.entry("w").in_both([](HeaderFields& header) { header.csize = header.usize = 1400; });
  expect_refused(overlap.build(), {Code::zip_entry_bounds, "w", 0});
}

TEST_F(RepackFaultsTest, ACutZipIsRefusedAtEveryByte) {
  const Built built =
      zip_file_of({plain_entry(deflated_entry("w", pattern(30))), plain_entry(zip_entry("m.onnx", blob("m")))})
          .build_placed();
  for (std::size_t size = 0; size < built.bytes.size(); ++size) {
    Blob cut = built.bytes;
    truncate(cut, size);
    expect_refused(cut, {Code::zip_end_missing, "", size});
  }
}

TEST_F(RepackFaultsTest, AModelOf2GiBIsRefused) {
  ZipBuilder builder = zip_file_of({plain_entry(zip_entry("__MODEL_PROTO.onnx", Blob(3U << 20U)))});
  builder.entries[0].in_both([](HeaderFields& header) {
    header.method = std::uint16_t{8};  // its size is looked at, not its bytes
    header.usize = 1ULL << 31U;
  });
  const Built built = builder.build_placed();
  RepackOptions options = quick();
  options.max_expansion = 1000;
  expect_refused(
      built.bytes,
      {Code::archive_model_too_large, "__MODEL_PROTO.onnx", built.entry("__MODEL_PROTO.onnx").central_offset}, options);
}

// --- the output ----------------------------------------------------------------------------------

TEST_F(RepackFaultsTest, ExistingOutputIsNotReplaced) {
  const fs::path path = input(smallest_archive().bytes);
  folder_.write_file("out", "precious");
  for (const fs::path& target : {folder_ / "out", path}) {
    expect_error(error_if_any([&] { return repack(path, target, quick()); }),
                 {.code = Code::output_exists, .path = target});
  }
  EXPECT_EQ(folder_.read_text("out"), "precious");
  EXPECT_EQ(folder_.read_file("in"), smallest_archive().bytes);
}

TEST_F(RepackFaultsTest, AFileCanBeRepackedOverItself) {
  const fs::path path = input(plain_zip_of_three().build());
  repack(path, path, replacing());
  EXPECT_EQ(folder_.read_file("in"), archive_of_three());
  EXPECT_THAT(folder_.file_names(), ElementsAre("in"));
}

TEST_F(RepackFaultsTest, DamagedDataKeepsTheInputThatWasToBeReplaced) {
  Built built = smallest_archive();
  flip_bit(built.bytes, built.entry("w").data_offset);
  const fs::path path = input(built.bytes);
  EXPECT_EQ(code_of([&] { return repack(path, path, replacing()); }), Code::zip_data_crc);
  EXPECT_EQ(folder_.read_file("in"), built.bytes);
}

TEST_F(RepackFaultsTest, ADryRunWritesNothingAndKnowsTheSize) {
  RepackOptions options = quick();
  options.output.dry_run = true;
  const Blob bytes = plain_zip_of_three().build();
  EXPECT_EQ(repack(input(bytes), folder_ / "out", options).file_bytes, archive_of_three().size());
  EXPECT_THAT(folder_.file_names(), ElementsAre("in"));
  folder_.write_file("out", "");
  EXPECT_EQ(code_of([&] { return repack(folder_ / "in", folder_ / "out", options); }), Code::output_exists);
  options.output.overwrite = true;
  EXPECT_EQ(repack(folder_ / "in", folder_ / "in", options).entries, 3U);
  EXPECT_EQ(folder_.read_file("in"), bytes);
}

// The sum of an entry that may change is that of the bytes that were written.
TEST_F(RepackFaultsTest, BytesThatChangeAfterTheCopyAreNotWritten) {
  const Blob data = pattern(3 * mebibyte);
  const Built built = append_edit(smallest_archive(), smallest_model(256, "next"), {zip_entry("v", data)});
  const auto path = input(built.bytes);
  const std::size_t begin = built.entry("v").data_offset;
  int changes = 0;
  {
    FileCallLog log;
    log.fail = [&](const FileCall& call) {
      if (call.data.size() < 4096 || changes++ > 0) return 0;  // before the first write of data
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(begin)).put('!');
      return 0;
    };
    static_cast<void>(repack(path, folder_ / "out", quick()));
  }
  EXPECT_GT(changes, 0);
  const Blob out = folder_.read_file("out");
  const Archive archive = Archive::open(out, nullptr);
  EXPECT_EQ(copy_of(archive.bytes(*archive.find("v"))), data);
}

TEST_F(RepackFaultsTest, OnlyAnOutputThatIsReplacedIsLocked) {
  const auto path = input(archive_of_three());
  const auto output = folder_.write_file("out", smallest_archive().bytes);
  const ArchiveEditor editor = ArchiveEditor::open(output);
  const auto code = [&](const OutputOptions& how) {
    return code_of([&] { return repack(path, output, {.output = how}); });
  };
  EXPECT_EQ(code({.sync = false}), Code::output_exists);
  EXPECT_EQ(code({.overwrite = true, .sync = false, .dry_run = true}), std::nullopt);
  EXPECT_EQ(code({.overwrite = true, .sync = false}), Code::archive_busy);
}

TEST_F(RepackFaultsTest, AFullDiskIsNamedAndChangesNothing) {
  const TempDir disk;
  const SmallDisk mount(disk.path(), 3U << 20U);
  if (!mount.mounted()) GTEST_SKIP() << "no small disk can be mounted here";
  const Blob bytes = archive_of_three();  // there is room for one of it
  const fs::path path = disk.write_file("in", bytes);
  const auto error = error_if_any([&] { return repack(path, path, replacing()); });
  EXPECT_TRUE(error && error->code() == Code::io_disk_full && error->path() == path);
  EXPECT_TRUE(disk.read_file("in") == bytes);
  EXPECT_THAT(disk.file_names(), ElementsAre("in"));
}

TEST_F(RepackFaultsTest, AMissingInputIsNotFound) {
  EXPECT_EQ(code_of([&] { return repack(folder_ / "none", folder_ / "out", quick()); }), Code::io_not_found);
  EXPECT_THAT(folder_.file_names(), IsEmpty());
}

}  // namespace
}  // namespace onnxar::testing
