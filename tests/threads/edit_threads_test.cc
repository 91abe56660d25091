// Readers work while an archive is edited: some hold it open, and others open it again and again.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
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

/// Reads an archive that was opened before the edits, and compares it with its state at that time.
void hold(const Archive& archive, Readers& readers) {
  const std::size_t size = archive.file().size();
  while (!readers.done) {
    const bool same = archive.file().size() == size && is_right(archive);
    ++(same ? readers.read : readers.wrong);
  }
}

/// On a busy machine readers that open the archive may hold the lock for longer than an editor waits.
ArchiveEditor open_patiently(const fs::path& path) {
  while (true) {
    try {
      return ArchiveEditor::open(path, {.output = {.sync = false}});
    } catch (const Error& error) {
      if (error.code() != Code::archive_busy) throw;
    }
  }
}

void edit(const fs::path& path, int number) {
  ArchiveEditor editor = open_patiently(path);
  // One size is below and one above the writer's buffer, so that the file grows in one step or in several.
  editor.add("added_" + std::to_string(number), pattern(number % 2 == 0 ? 100 : 200000, 7));
  if (number % 10 == 9) return;  // abandons the edit, which cuts off the written bytes
  editor.commit(smallest_model(weight().size() / 4, "edit " + std::to_string(number)));
}

TEST(EditThreads, ReadersNeverSeeAnythingWrong) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", smallest_builder(weight()).build());
  const Archive held = Archive::open(path);
  Readers holding;
  Readers coming;
  {
    std::vector<base::JoinedThread> threads;
    for (int i = 0; i < 2; ++i) threads.emplace_back([&] { hold(held, holding); });
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
    std::vector<base::JoinedThread> threads;
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
