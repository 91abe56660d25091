// Parts of entries: where they are read from, and that their entries are verified as a whole.
#include "archive/sliced_entries.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "archive/opened.h"
#include "support/refusal.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

TEST(SlicedEntries, CopiesGoToOneFileInTheFolder) {
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const TempDir folder;
  const Built first = built_with({zip_entry("w", pattern(100))});
  std::vector<ZipEntry> added = {zip_entry("v", pattern(50))};
  for (int i = 0; i < 40; ++i) added.push_back(zip_entry("u" + std::to_string(i), pattern(60)));
  const Archive archive = opened(edited(first, "another", added).bytes);
  SlicedEntries entries(folder.path());
  const auto descriptors_with = [&](std::string_view name) {
    const ArchiveEntry entry = *archive.find(name);
    static_cast<void>(all_of(*entries.source(archive, entry, archive.bytes(entry).first(5))));
    return descriptors();
  };
  const auto before = descriptors(), first_read = descriptors_with("v");
  EXPECT_GT(first_read, before);
  auto all_read = first_read;
  for (int i = 0; i < 40; ++i) all_read = descriptors_with("u" + std::to_string(i));
  EXPECT_LT(all_read, first_read + 20);  // Wine itself opens a few
  SlicedEntries nowhere(folder / "none");
  const ArchiveEntry entry = *archive.find("v");
  const auto source = nowhere.source(archive, entry, archive.bytes(entry));
  EXPECT_EQ(code_of([&] { return all_of(*source); }), Code::io_not_found);
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
        EXPECT_EQ(copy_of(bytes), copy_of(part));
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
    for (int time = 1; time <= 2; ++time) {
      EXPECT_EQ(code_of([&] { source->read([](Bytes) {}); }), Code::zip_data_crc) << name << ", time " << time;
    }
  }
}

}  // namespace
}  // namespace onnxar::testing
