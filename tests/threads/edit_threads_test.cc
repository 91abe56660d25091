// Readers at work while an archive is edited: those who hold it, and those who come.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/edit.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
constexpr int edits = 100;

const Blob& weight() {
  static const Blob bytes = pattern(std::size_t{256} << 10U, 5);
  return bytes;
}

struct Readers {
  std::atomic<bool> done = false;
  std::atomic<int> read = 0;
  std::atomic<int> busy = 0;
  std::atomic<int> wrong = 0;
};

bool is_right(const Archive& archive) {
  archive.verify(archive.entry(archive.size() - 1));
  return std::ranges::equal(archive.resolve("w"), weight());
}

/// Opens the archive again and again.
void come(const fs::path& path, Readers& readers) {
  while (!readers.done) {
    try {
      ++(is_right(Archive::open(path)) ? readers.read : readers.wrong);
    } catch (const Error& error) {
      ++(error.code() == Code::archive_busy ? readers.busy : readers.wrong);
    }
  }
}

/// Opens it once, and looks at what it was then.
void hold(const fs::path& path, Readers& readers) {
  const Archive archive = Archive::open(path);
  const std::size_t size = archive.file().size();
  while (!readers.done) {
    const bool same = archive.file().size() == size && is_right(archive);
    ++(same ? readers.read : readers.wrong);
  }
}

void edit(const fs::path& path, int number) {
  ArchiveEditor editor = ArchiveEditor::open(path, {.sync = false, .open = {}});
  // Sizes on both sides of what is written at once, so that the file grows in one step or in several.
  editor.add("added_" + std::to_string(number), pattern(number % 2 == 0 ? 100 : 200000, 7));
  if (number % 10 == 9) return;  // gives up, and cuts off what it has written
  editor.commit(smallest_model(weight().size() / 4, "edit " + std::to_string(number)));
}

TEST(EditThreads, ReadersNeverSeeAnythingWrong) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", smallest_builder(weight()).build());
  Readers holding;
  Readers coming;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i) threads.emplace_back([&] { hold(path, holding); });
    for (int i = 0; i < 3; ++i) threads.emplace_back([&] { come(path, coming); });
    for (int i = 0; i < edits; ++i) edit(path, i);
    holding.done = coming.done = true;
  }
  EXPECT_EQ(holding.wrong, 0);
  EXPECT_EQ(coming.wrong, 0);
  EXPECT_GT(holding.read, 0);
  EXPECT_GT(coming.read, 0);
  EXPECT_EQ(Archive::open(path).size(), 2U + edits * 9 / 10);
}

TEST(EditThreads, EditsThatMeetFollowEachOther) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", smallest_builder(weight()).build());
  constexpr int each = 8;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&path, i] {
        for (int number = 0; number < each; ++number) edit(path, 10 * (i * each + number));
      });
    }
  }
  EXPECT_EQ(Archive::open(path).size(), 2U + 4 * each);
}

}  // namespace
}  // namespace onnxar::testing
