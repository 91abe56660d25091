// Caches, spools and lists of codes, each at the edge of what it promises.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "archive/access.h"
#include "archive/aligned_copies.h"
#include "archive/entry_source.h"
#include "archive/foreign_faults.h"
#include "archive/keys.h"
#include "archive/opened.h"
#include "archive/repacking.h"
#include "onnxar/archive.h"
#include "onnxar/edit.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

Blob blob_of(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

TEST(AlignedCopies, AreKeptUpToTheLimitAndMadeAnewBeyondIt) {
  const Blob data = pattern(100);
  const SpanSource source(data);
  AlignedCopies copies;
  const auto address = [&](std::uint64_t key, std::uint64_t limit) {
    const ByteSpan copy = copies.get({key, 0}, source, limit);
    EXPECT_EQ(blob_of(copy.bytes()), data);
    return copy.bytes().data();
  };
  const std::byte* const first = address(1, 200);
  const std::byte* const second = address(2, 200);
  EXPECT_EQ(address(1, 200), first);
  EXPECT_EQ(address(2, 200), second);
  const ByteSpan third = copies.get({3, 0}, source, 299);  // kept would be 300 bytes
  EXPECT_NE(address(3, 299), third.bytes().data());
  const ByteSpan too_large = copies.get({4, 0}, source, 99);
  EXPECT_NE(address(4, 99), too_large.bytes().data());
}

TEST(EntriesByHand, AreRefusedWhateverDiffers) {
  const Archive archive = opened(smallest_archive().bytes);
  const ArchiveEntry own = *archive.find("w");
  EXPECT_NO_THROW(static_cast<void>(archive.bytes(own)));
  const auto refused = [&](const std::function<void(ArchiveEntry&)>& change) {
    ArchiveEntry other = own;
    change(other);
    return code_of([&] { return archive.bytes(other).size(); }) == Code::usage_foreign_entry;
  };
  const std::string same_name = "w";
  EXPECT_TRUE(refused([&](ArchiveEntry& e) { e.name = same_name; })) << "names are views of the archive";
  EXPECT_TRUE(refused([](ArchiveEntry& e) { e.name = e.name.substr(0, 0); }));
  EXPECT_TRUE(refused([](ArchiveEntry& e) { ++e.size; }));
  EXPECT_TRUE(refused([](ArchiveEntry& e) { ++e.header_offset; }));
  EXPECT_TRUE(refused([](ArchiveEntry& e) { ++e.crc32; }));
  EXPECT_TRUE(refused([](ArchiveEntry& e) { ++e.index; }));
  EXPECT_TRUE(refused([](ArchiveEntry& e) { e.index = 2; }));
}

TEST(SlicedEntries, OfAnEditAreReadFromACopyAndOthersInPlace) {
  const TempDir folder;
  const Built built = edited(built_with({zip_entry("a", pattern(500, 1))}), "next",
                             {zip_entry("b", pattern(300, 2)), zip_entry("c", pattern(200, 3))});
  const auto path = folder.write_file("a.onnxar", built.bytes);
  const Archive archive = Archive::open(path);
  for (const std::filesystem::path& spool : {folder.path(), std::filesystem::path()}) {
    SlicedEntries slices(spool);
    for (const std::string name : {"a", "b", "c", "b"}) {
      const ArchiveEntry entry = *archive.find(name);
      const Bytes part = archive.bytes(entry).subspan(10, 90);
      const auto source = slices.source(archive, entry, part);
      const std::byte* read_at = nullptr;
      source->read([&](Bytes bytes) {
        read_at = bytes.data();
        EXPECT_EQ(blob_of(bytes), blob_of(part));
      });
      std::size_t places = 0;
      source->locate([&](const Location&) { ++places; });
      EXPECT_EQ(read_at == part.data(), name == "a");
      EXPECT_EQ(places, name == "a" ? 1U : 0U);
    }
  }
  EXPECT_EQ(folder.file_names(), std::vector<std::string>{"a.onnxar"});
}

TEST(SlicedEntries, AreVerifiedAsAWhole) {
  const TempDir folder;
  Built built = edited(built_with({zip_entry("a", pattern(500, 1))}), "next", {zip_entry("b", pattern(300, 2))});
  for (const std::string name : {"a", "b"}) flip_bit(built.bytes, built.entry(name).data_offset + 200);
  const Archive archive = opened(built.bytes);
  SlicedEntries slices(folder.path());
  for (const std::string name : {"a", "b"}) {
    const ArchiveEntry entry = *archive.find(name);
    const auto source = slices.source(archive, entry, archive.bytes(entry).first(10));  // which is right
    EXPECT_EQ(code_of([&] { source->read([](Bytes) {}); }), Code::zip_data_crc) << name;
  }
}

TEST(GraphNames, AreInTheRootAndNotReserved) {
  EXPECT_TRUE(is_graph_name("decoder.onnx"));
  EXPECT_TRUE(is_graph_name("__decoder.onnx"));
  for (const std::string_view name : {".onnx", "decoder.ONNX", "onnx", "a/decoder.onnx", "__MODEL.onnx", ""}) {
    EXPECT_FALSE(is_graph_name(name)) << name;
  }
}

TEST(ForeignFaults, AreThoseOfOtherZips) {
  EXPECT_FALSE(may_be_foreign_zip(Code::zip_data_crc)) << "damaged data is damage in every zip";
  EXPECT_TRUE(may_be_foreign_zip(Code::zip_entry_method));
  EXPECT_TRUE(may_be_foreign_zip(Code::archive_model_missing));
  EXPECT_TRUE(may_be_foreign_zip(Code::archive_model_not_last));
  EXPECT_FALSE(may_be_foreign_zip(Code::archive_torn));
  EXPECT_FALSE(may_be_foreign_zip(Code::io_failed));
}

TEST_F(RepackTest, ADryRunThatOverwritesWritesNothing) {
  const Blob before = archive_of_three();
  const auto path = input(before);
  const RepackReport report = repack(path, path, {.output = {.overwrite = true, .sync = false, .dry_run = true}});
  EXPECT_EQ(report.entries, 3U);
  EXPECT_EQ(folder_.read_file("in"), before);
  EXPECT_EQ(folder_.file_names(), std::vector<std::string>{"in"});
}

}  // namespace
}  // namespace onnxar::testing
