// The archives that zip_builder.h builds, edits and damages are what they say, and tools of other makers agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/temp_dir.h"
#include "support/wire_builder.h"
#include "support/zip_builder.h"
#include "support_test/hex.h"
#include "support_test/shell.h"

namespace onnxar::testing {
namespace {

bool has_tool(const std::string& name) {
  const bool found = exit_code("command -v " + name) == 0;
  if (!found) std::cout << "not installed, not asked: " << name << '\n';
  return found;
}

// What the file holds under `name`, as Python's zipfile reads it.
Blob python_reads(const TempDir& folder, const std::string& archive, const std::string& name) {
  const std::string command = "cd " + folder.path().string() +
                              " && /usr/bin/python3 -c \"import zipfile,sys;"
                              "open('read','wb').write(zipfile.ZipFile('" +
                              archive + "').read('" + name + "'))\"";
  if (exit_code(command) != 0) throw std::runtime_error("python3 cannot read " + name);
  return folder.read_file("read");
}

struct Tool {
  std::string program;
  std::string command;
};

// `-m zipfile -t` ends with 0 even when a CRC is wrong, so the second half asks once more.
const Tool python{"/usr/bin/python3",
                  "/usr/bin/python3 -m zipfile -t \"$ARCHIVE\" && /usr/bin/python3 -c 'import sys, zipfile;"
                  "sys.exit(zipfile.ZipFile(sys.argv[1]).testzip() is not None)' \"$ARCHIVE\""};
const Tool unzip{"unzip", "unzip -tqq \"$ARCHIVE\""};
const Tool zipalign{"zipalign", "zipalign -c 64 \"$ARCHIVE\""};

std::string command_for(const Tool& tool, const std::string& archive) {
  return "ARCHIVE='" + archive + "'; " + tool.command;
}

void expect_accepted(const Blob& archive, const std::vector<Tool>& tools) {
  const TempDir folder;
  const std::string path = folder.write_file("a.zip", archive).string();
  for (const Tool& tool : tools) {
    if (!has_tool(tool.program)) continue;
    EXPECT_EQ(exit_code(command_for(tool, path)), 0) << tool.command;
  }
}

void expect_refused(const Blob& archive, const Tool& tool) {
  const TempDir folder;
  const std::string path = folder.write_file("a.zip", archive).string();
  if (!has_tool(tool.program)) return;
  EXPECT_NE(exit_code(command_for(tool, path)), 0) << tool.command;
}

TEST(BitwiseCrc32, ReturnsTheCheckValue) {
  EXPECT_EQ(bitwise_crc32(blob("123456789")), 0xCBF43926U);
  EXPECT_EQ(bitwise_crc32({}), 0U);
}

TEST(ZipBuilder, SmallestArchiveLiesWhereTheProfileSays) {
  const Built built = smallest_archive();
  const PlacedEntry& w = built.entry("w");
  const PlacedEntry& model = built.entry(model_entry);
  EXPECT_EQ(w.header_offset, 0U);
  EXPECT_EQ(w.padding_offset, 31U);
  EXPECT_EQ(w.data_offset, 64U);
  EXPECT_EQ(w.data_size, 1024U);
  EXPECT_EQ(model.header_offset, 64U + 1024);
  EXPECT_EQ(model.data_offset % 64, 0U);
  EXPECT_LE(model.data_offset - model.padding_offset, 69U);
  EXPECT_EQ(built.directory_offset, model.data_offset + model.data_size);
  EXPECT_EQ(w.central_offset, built.directory_offset);
  EXPECT_EQ(w.central_size, 46U + 1);
  EXPECT_EQ(model.central_offset, w.central_offset + w.central_size);
  EXPECT_EQ(model.central_size, 46U + 13);
  EXPECT_EQ(built.directory_size, w.central_size + model.central_size);
  EXPECT_EQ(built.end_offset, built.directory_offset + built.directory_size);
  EXPECT_EQ(built.bytes.size(), built.end_offset + 22);
  EXPECT_FALSE(built.zip64_end_offset);
}

TEST(ZipBuilder, LocalHeaderHasTheWritersConstants) {
  const Blob archive = smallest_builder(Blob(4)).build();
  const Blob expected = hex({0x50, 0x4b, 0x03, 0x04, 10, 0, 0, 0, 0, 0,  0, 0,   0x21, 0,    0x1c, 0xdf, 0x44, 0x21, 4,
                             0,    0,    0,    4,    0,  0, 0, 1, 0, 33, 0, 'w', 0x35, 0xd9, 29,   0,    64,   0});
  EXPECT_EQ(Blob(archive.begin(), archive.begin() + 37), expected);
  EXPECT_EQ(Blob(archive.begin() + 37, archive.begin() + 68), zeros(31));
}

TEST(ZipBuilder, CentralHeaderHasTheWritersConstants) {
  const Built built = smallest_builder(Blob(4)).build_placed();
  const std::size_t at = built.entry("w").central_offset;
  const Blob expected =
      hex({0x50, 0x4b, 0x01, 0x02, 10, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0x21, 0, 0x1c, 0xdf, 0x44, 0x21, 4, 0, 0,  0,
           4,    0,    0,    0,    1,  0, 0,  0, 0, 0, 0, 0, 0, 0, 0,    0, 0,    0,    0,    0,    0, 0, 'w'});
  const auto first = built.bytes.begin() + static_cast<std::ptrdiff_t>(at);
  EXPECT_EQ(Blob(first, first + 47), expected);
}

TEST(ZipBuilder, LargeEntriesAreAlignedToPages) {
  ZipBuilder builder = smallest_builder();
  builder.entries.insert(builder.entries.begin(), zip_entry("below", Blob(mebibyte - 1)));
  builder.entries.insert(builder.entries.begin() + 1, zip_entry("at", Blob(mebibyte)));
  Built built = builder.build_placed();
  EXPECT_EQ(built.entry("below").data_offset, 128U - 64);
  EXPECT_EQ(built.entry("at").data_offset % 4096, 0U);
  EXPECT_EQ(u16_at(built.bytes, built.entry("at").padding_offset + 4), 4096U);
  expect_accepted(built.bytes, {python, unzip, zipalign});

  builder.alignment = 32768;
  built = builder.build_placed();
  for (const PlacedEntry& entry : built.entries) EXPECT_EQ(entry.data_offset % 32768, 0U) << entry.name;
}

TEST(ZipBuilder, OtherToolsAcceptTheSmallestArchive) {
  const Blob archive = smallest_archive().bytes;
  expect_accepted(archive, {python, unzip, zipalign});
}

TEST(ZipBuilder, OtherToolsAcceptForcedZip64) {
  ZipBuilder builder = smallest_builder();
  builder.force_zip64 = true;
  for (ZipEntry& entry : builder.entries) entry.force_zip64_sizes = entry.force_zip64_offset = true;
  const Built built = builder.build_placed();
  const PlacedEntry& w = built.entry("w");
  EXPECT_EQ(u16_at(built.bytes, w.header_offset + 4), 45U);
  EXPECT_EQ(u32_at(built.bytes, w.header_offset + 18), 0xFFFFFFFFU);
  EXPECT_EQ(u16_at(built.bytes, w.extra_offset), 1U);
  EXPECT_EQ(u16_at(built.bytes, w.extra_offset + 2), 16U);
  EXPECT_EQ(u64_at(built.bytes, w.extra_offset + 4), 1024U);
  EXPECT_EQ(w.data_offset % 64, 0U);
  EXPECT_EQ(w.central_size, 46U + 1 + 4 + 24);
  EXPECT_EQ(*built.zip64_locator_offset, *built.zip64_end_offset + 56);
  EXPECT_EQ(built.end_offset, *built.zip64_locator_offset + 20);
  EXPECT_EQ(u64_at(built.bytes, *built.zip64_locator_offset + 8), *built.zip64_end_offset);
  EXPECT_EQ(u16_at(built.bytes, built.end_offset + 10), 0xFFFFU);
  EXPECT_EQ(u32_at(built.bytes, built.end_offset + 16), 0xFFFFFFFFU);
  expect_accepted(built.bytes, {python, unzip});  // zipalign knows no zip64
}

TEST(ZipBuilderSlow, ManyEntriesBringZip64ByThemselves) {
  ZipBuilder builder = smallest_builder();
  const std::size_t own = builder.entries.size();
  while (builder.entries.size() < 65534) {
    const std::string name = std::to_string(builder.entries.size() - own);
    builder.entries.insert(builder.entries.end() - 1, zip_entry(name, {}));
  }
  EXPECT_FALSE(builder.build_placed().zip64_end_offset);
  builder.entries.insert(builder.entries.end() - 1, zip_entry("last", {}));
  const Built built = builder.build_placed();
  ASSERT_TRUE(built.zip64_end_offset);
  EXPECT_EQ(u64_at(built.bytes, *built.zip64_end_offset + 32), 65535U);
  EXPECT_EQ(u32_at(built.bytes, built.end_offset + 12), 0xFFFFFFFFU);
  expect_accepted(built.bytes, {python, unzip});
}

TEST(ZipBuilder, SizesThatNeedZip64GetItWithoutSuchData) {
  ZipBuilder builder = smallest_builder();
  builder.entry("w").in_both([](HeaderFields& header) { header.csize = header.usize = 0xFFFFFFFF; });
  const Built built = builder.build_placed();
  const PlacedEntry& w = built.entry("w");
  EXPECT_EQ(u32_at(built.bytes, w.header_offset + 22), 0xFFFFFFFFU);
  EXPECT_EQ(u64_at(built.bytes, w.extra_offset + 4), 0xFFFFFFFFU);
  EXPECT_EQ(w.central_size, 46U + 1 + 4 + 16);
}

TEST(ZipBuilder, OneReplacedFieldChangesOnlyThatField) {
  const Blob plain = smallest_archive().bytes;
  ZipBuilder builder = smallest_builder();
  builder.entry("w").central.flags = std::uint16_t{1};
  Built built = builder.build_placed();
  Blob expected = plain;
  put_u16(expected, built.entry("w").central_offset + 8, 1);
  EXPECT_EQ(built.bytes, expected);

  builder = smallest_builder();
  builder.entry("w").central.header_offset32 = 0xFFFFFFFFU;
  builder.end.entries = std::uint16_t{7};
  built = builder.build_placed();
  expected = plain;
  put_u32(expected, built.entry("w").central_offset + 42, 0xFFFFFFFFU);
  put_u16(expected, built.end_offset + 10, 7);
  EXPECT_EQ(built.bytes, expected);
}

TEST(ZipBuilder, GapsPrefixAndTailLieWhereTheyAreAskedFor) {
  ZipBuilder builder = smallest_builder();
  builder.prefix = blob("prefix");
  builder.entries[0].gap_after = blob("gap");
  builder.gap_before_directory = blob("directory");
  builder.trailing = blob("!");
  const Built built = builder.build_placed();
  EXPECT_EQ(built.entries[0].header_offset, 6U);
  EXPECT_EQ(built.entries[0].data_offset % 64, 0U);
  EXPECT_EQ(built.entries[1].header_offset, built.entries[0].data_offset + 1024 + 3);
  EXPECT_EQ(built.directory_offset, built.entries[1].data_offset + built.entries[1].data_size + 9);
  EXPECT_EQ(built.end_offset, built.directory_offset + built.directory_size);
  EXPECT_EQ(built.bytes.size(), built.end_offset + 22 + 1);
}

TEST(ZipBuilder, DirectoryMayListInAnotherOrderAndLeaveOut) {
  ZipBuilder builder = smallest_builder();
  builder.directory_order = {1, 0};
  Built built = builder.build_placed();
  EXPECT_LT(built.entries[1].central_offset, built.entries[0].central_offset);
  expect_accepted(built.bytes, {python, unzip});

  builder = smallest_builder();
  builder.entries[0].listed = false;
  built = builder.build_placed();
  EXPECT_FALSE(built.entries[0].listed());
  EXPECT_EQ(u16_at(built.bytes, built.end_offset + 10), 1U);
}

TEST(ZipBuilder, NamesBeyondAsciiSetTheFlag) {
  ZipBuilder builder = smallest_builder();
  builder.entries.insert(builder.entries.begin(), zip_entry("gr\xc3\xb6\xc3\x9f"
                                                            "e.txt",
                                                            blob("x")));
  const Built built = builder.build_placed();
  EXPECT_EQ(u16_at(built.bytes, 6), 0x0800U);
  expect_accepted(built.bytes, {python, unzip, zipalign});
}

TEST(ZipBuilder, CompressedAndStreamedEntriesAreReadByOthers) {
  const Blob data = pattern(100000, 7);
  ZipBuilder builder = smallest_builder();
  builder.entries.insert(builder.entries.begin(), deflated_entry("deflated", data));
  builder.entries.insert(builder.entries.begin(), deflated_entry("nothing", {}));
  builder.entries.insert(builder.entries.begin(), streamed_entry("streamed", data));
  const Blob archive = builder.build();
  expect_accepted(archive, {python, unzip});
  const TempDir folder;
  folder.write_file("a.zip", archive);
  EXPECT_EQ(python_reads(folder, "a.zip", "deflated"), data);
  EXPECT_EQ(python_reads(folder, "a.zip", "streamed"), data);
  EXPECT_EQ(python_reads(folder, "a.zip", "nothing"), Blob{});
}

TEST(ZipBuilder, OthersSeeAWrongCrc) {
  Built built = smallest_archive();
  flip_bit(built.bytes, built.entry("w").data_offset + 5, 3);
  expect_refused(built.bytes, python);
  expect_refused(built.bytes, unzip);
}

TEST(Edit, AppendsOnly) {
  const Built first = smallest_archive();
  const Built second = append_edit(first, smallest_model(256, "edited"), {zip_entry("b", blob("bias"))});
  ASSERT_GT(second.bytes.size(), first.bytes.size());
  EXPECT_TRUE(std::equal(first.bytes.begin(), first.bytes.end(), second.bytes.begin()));
  EXPECT_EQ(second.entry("w").data_offset, first.entry("w").data_offset);
  EXPECT_EQ(second.entry("b").header_offset, first.bytes.size());
  EXPECT_EQ(second.entry("b").data_offset % 64, 0U);
  EXPECT_EQ(second.entries.size(), 3U);
  EXPECT_EQ(second.entries.back().name, model_entry);
  EXPECT_EQ(u16_at(second.bytes, second.end_offset + 10), 3U);
  EXPECT_EQ(second.bytes.size(), second.end_offset + 22);
}

TEST(Edit, OtherToolsReadTheLastState) {
  const Built first = smallest_archive();
  const Built second = append_edit(first, smallest_model(256, "edited"), {zip_entry("b", blob("bias"))});
  const Blob model = smallest_model(256, "edited twice");
  const Built third = append_edit(second, model);
  expect_accepted(second.bytes, {python, unzip, zipalign});
  expect_accepted(third.bytes, {python, unzip, zipalign});
  const TempDir folder;
  folder.write_file("a.zip", third.bytes);
  EXPECT_EQ(python_reads(folder, "a.zip", std::string(model_entry)), model);
  EXPECT_EQ(python_reads(folder, "a.zip", "w"), first.data_of("w"));
  EXPECT_EQ(python_reads(folder, "a.zip", "b"), blob("bias"));
  EXPECT_EQ(third.data_of(model_entry), model);
}

TEST(Edit, MayUseZip64) {
  ZipBuilder builder = edit_builder(smallest_archive(), smallest_model(256, "edited"));
  builder.force_zip64 = true;
  builder.entry(model_entry).force_zip64_sizes = true;
  expect_accepted(builder.build(), {python, unzip});
}

TEST(Damage, VerbsChangeWhatTheySay) {
  Blob bytes = blob("0123456789");
  flip_bit(bytes, 0);
  EXPECT_EQ(text_of(bytes), "1123456789");
  put_u16(bytes, 1, 0x4241);
  EXPECT_EQ(text_of(bytes), "1AB3456789");
  insert(bytes, 10, blob("xy"));
  erase(bytes, 0, 4);
  EXPECT_EQ(text_of(bytes), "456789xy");
  truncate(bytes, 3);
  EXPECT_EQ(text_of(bytes), "456");
  put_bytes(bytes, 1, blob("zz"));
  EXPECT_EQ(text_of(bytes), "4zz");
}

TEST(Damage, VerbsRefuseToDamageNothing) {
  Blob bytes(8);
  EXPECT_THROW(flip_bit(bytes, 8), std::out_of_range);
  EXPECT_THROW(put_u16(bytes, 7, 0), std::out_of_range);
  EXPECT_THROW(put_u32(bytes, 5, 0), std::out_of_range);
  EXPECT_THROW(put_u64(bytes, 1, 0), std::out_of_range);
  EXPECT_THROW(truncate(bytes, 8), std::out_of_range);
  EXPECT_THROW(insert(bytes, 9, {}), std::out_of_range);
  EXPECT_THROW(erase(bytes, 0, 9), std::out_of_range);
  EXPECT_THROW(static_cast<void>(u64_at(bytes, 1)), std::out_of_range);
}

TEST(Damage, SignaturesAreFoundInOrder) {
  const Built built = smallest_archive();
  EXPECT_EQ(find_signature(built.bytes, signature::local), 0U);
  EXPECT_EQ(find_signature(built.bytes, signature::local, 1), built.entry(model_entry).header_offset);
  EXPECT_EQ(find_signature(built.bytes, signature::end), built.end_offset);
  EXPECT_EQ(find_signature(built.bytes, signature::central), built.entry("w").central_offset);
  EXPECT_FALSE(find_signature(built.bytes, signature::zip64_end));
}

}  // namespace
}  // namespace onnxar::testing
