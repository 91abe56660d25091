// The digest of an archive: what it depends on, and what it does not. tests/conformance compares its value with that of
// each vector.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "archive/opened.h"
#include "onnxar/archive.h"
#include "onnxar/listing.h"
#include "support/ranged_blob.h"
#include "support/refusal.h"
#include "support/samples.h"
#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

std::vector<ZipEntry> sample_entries() {
  return {zip_entry("a.bin", pattern(100, 1)), zip_entry("b.bin", pattern(300'000, 2)), zip_entry("c.bin", {})};
}

std::string hex_of(const Built& built) { return digest(opened(built.bytes)).hex; }
std::string hex_with(std::vector<ZipEntry> entries) { return hex_of(built_with(std::move(entries))); }

TEST(Digest, DoesNotDependOnOrderAndAlignment) {
  const std::string hex = hex_with(sample_entries());
  std::vector<ZipEntry> entries = sample_entries();
  std::ranges::reverse(entries);
  EXPECT_EQ(hex_with(entries), hex);
  entries[1].alignment = 16384;
  entries[2].local.more_padding = 128;
  EXPECT_EQ(hex_with(entries), hex);
}

TEST(Digest, DoesNotDependOnEditsThatWereReversed) {
  ZipBuilder builder;
  builder.entries = sample_entries();
  builder.entries.push_back(zip_entry(model_entry, smallest_model(256, "first")));
  const Built first = builder.build_placed();
  const Built second = edited(first, "second");
  EXPECT_NE(hex_of(second), hex_of(first));
  EXPECT_EQ(hex_of(edited(second, "first")), hex_of(first));
  // An entry that an edit added is in each later state.
  EXPECT_NE(hex_of(edited(edited(first, "second", {zip_entry("d.bin", {})}), "first")), hex_of(first));
}

TEST(Digest, DependsOnEachNameAndByteAndEntry) {
  const auto changed = [](const auto& change) {
    std::vector<ZipEntry> entries = sample_entries();
    change(entries);
    return hex_with(entries);
  };
  const std::set<std::string> digests = {
      changed([](auto&) {}),
      changed([](auto& entries) { entries[0].data[99] ^= std::byte{1}; }),
      changed([](auto& entries) { entries[1].data[0] ^= std::byte{128}; }),
      changed([](auto& entries) { entries[2].data = {std::byte{0}}; }),
      changed([](auto& entries) { entries[0].name = "A.bin"; }),
      changed([](auto& entries) { std::swap(entries[0].name, entries[1].name); }),
      changed([](auto& entries) { entries.pop_back(); }),
      changed([](auto& entries) { entries.push_back(zip_entry("d.bin", {})); }),
      changed([](auto& entries) { entries.push_back(zip_entry("unused", {})); }),
  };
  EXPECT_EQ(digests.size(), 9U);
}

TEST(Digest, IsTheSameForEveryWayOfReading) {
  const Built built = built_with(sample_entries());
  const Archive archive = opened(built.bytes);
  const std::string manifest = digest(archive, {.threads = 1}).manifest();
  for (const std::size_t threads : {0U, 2U, 16U}) EXPECT_EQ(digest(archive, {.threads = threads}).manifest(), manifest);
  const auto file = by_ranges(built.bytes);
  EXPECT_EQ(digest(Archive::open(file), {.threads = 4}).manifest(), manifest);
  std::uint64_t read = 0;
  for (const RangedBlob::Read& each : file->reads) read += each.length;
  EXPECT_LT(read, built.bytes.size() + (256U << 10U)) << "each byte once";
}

TEST(Digest, ListsTheEntriesInTheOrderOfTheirNames) {
  const Digest found = digest(opened(built_with(sample_entries()).bytes));
  std::vector<std::string> names;
  for (const EntryDigest& entry : found.entries) names.push_back(entry.name);
  EXPECT_EQ(names, (std::vector<std::string>{"__MODEL_PROTO", "a.bin", "b.bin", "c.bin"}));
  EXPECT_EQ(found.entries[3].hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_TRUE(found.manifest().ends_with(found.entries[3].hex + "  c.bin\n"));
}

TEST(Digest, LeavesOutASignatureThatIsASideFile) {
  std::vector<ZipEntry> entries = sample_entries();
  entries.push_back(zip_entry(signature_entry_name, pattern(300, 4)));
  EXPECT_EQ(hex_with(entries), hex_with(sample_entries()));
  entries.back().name = "onnxar.sig/a";
  EXPECT_NE(hex_with(entries), hex_with(sample_entries()));
}

TEST(Digest, CoversTensorEntryWithTheSignaturesName) {
  const Message model = model_of({linked_floats("w", 256, signature_entry_name)});
  const auto hex = [&model](std::uint32_t seed) {
    return hex_of(archive_of(model, {zip_entry(signature_entry_name, pattern(1024, seed))}));
  };
  EXPECT_NE(hex(1), hex(2));
}

TEST(Digest, RefusesSignedArchiveWithUnreadableModel) {
  ZipBuilder builder;
  builder.entries = {zip_entry(signature_entry_name, pattern(300, 4)), zip_entry(model_entry, {std::byte{0xff}})};
  EXPECT_EQ(code_of([&] { return hex_of(builder.build_placed()); }), Code::wire_truncated);
  builder.entries.erase(builder.entries.begin());
  EXPECT_EQ(hex_of(builder.build_placed()).size(), 64U) << "without a signature the model is bytes like any other";
}

TEST(Digest, RefusesDamagedData) {
  Built built = built_with(sample_entries());
  flip_bit(built.bytes, built.entry("b.bin").data_offset + 1000);
  const auto expected = ErrorContext{Code::zip_data_crc, "b.bin", built.entry("b.bin").data_offset};
  for (const std::size_t threads : {1U, 3U}) {
    EXPECT_EQ(refusal_of([&] { return digest(opened(built.bytes), {.threads = threads}).hex; }), expected);
  }
  EXPECT_EQ(refusal_of([&] { return digest(Archive::open(by_ranges(built.bytes))).hex; }), expected);
}

TEST(Digest, RefusesFileThatWasTruncated) {
  ONNXAR_NEEDS_CHANGE_OF_MAPPED_FILES();
  const TempDir folder;
  const std::filesystem::path path = folder.write_file("a.onnxar", built_with(sample_entries()).bytes);
  const Archive mapped = Archive::open(path);
  const Archive copied = Archive::open(path, {.copy_in = true});
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  EXPECT_EQ(code_of([&] { return digest(mapped).hex; }), Code::io_changed);
  EXPECT_EQ(digest(copied).hex, hex_with(sample_entries())) << "a copy does not depend on the file";
}

TEST(Digest, ReportsStepsOfALargeEntry) {
  const Archive archive = opened(built_with({zip_entry("w", zeros(20 * mebibyte))}).bytes);
  std::size_t calls = 0;
  static_cast<void>(digest(archive, {.threads = 1, .progress = [&](std::uint64_t, std::uint64_t) { ++calls; }}));
  EXPECT_GE(calls, 2U);
}

TEST(Digest, ReportsHowManyBytesAreHashed) {
  const Archive archive = opened(built_with(sample_entries()).bytes);
  std::uint64_t total = 0;
  for (const ArchiveEntry& entry : archive.entries()) total += entry.size;
  for (const std::size_t threads : {1U, 3U}) {
    std::uint64_t last = 0;
    const auto note = [&](std::uint64_t done, std::uint64_t of) {
      EXPECT_LE(last, done);
      EXPECT_EQ(of, total);
      last = done;
    };
    static_cast<void>(digest(archive, {.threads = threads, .progress = note}));
    EXPECT_EQ(last, total);
  }
  for (int i = 0; i < 50; ++i) {  // any thread may be the last one
    std::uint64_t last = 0;
    static_cast<void>(
        digest(archive, {.threads = 3, .progress = [&](std::uint64_t done, std::uint64_t) { last = done; }}));
    EXPECT_EQ(last, total);
  }
  const auto cancel = [](std::uint64_t, std::uint64_t) { throw std::runtime_error("cancelled"); };
  EXPECT_THROW(static_cast<void>(digest(archive, {.threads = 1, .progress = cancel})), std::runtime_error);
}

}  // namespace
}  // namespace onnxar::testing
