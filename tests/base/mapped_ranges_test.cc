// Which mapped file an address lies in.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/file_origin.h"
#include "base/mapped_file.h"
#include "onnxar/edit.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

using base::MappedFile;

TEST(MappedFileAt, NamesTheFileOfEachByteAndOfNoOther) {
  const TempDir folder;
  const auto path = folder.write_file("a", std::string(100, 'x'));
  const MappedFile file = MappedFile::open(path);
  const std::byte* const begin = file.bytes().data();
  EXPECT_EQ(onnxar::mapped_file_at(begin), escaped_path(path));
  EXPECT_EQ(base::mapped_file_at(begin + 99), escaped_path(path));
  EXPECT_EQ(base::mapped_file_at(begin + 100), "");
  EXPECT_EQ(base::mapped_file_at(begin - 1), "");
  EXPECT_EQ(base::mapped_file_at(nullptr), "");
  EXPECT_EQ(base::mapped_file_at(&folder), "");
}

TEST(MappedFileAt, FollowsMappingsThatMoveAndForgetsThoseThatEnd) {
  const TempDir folder;
  const auto path = folder.write_file("a", "text");
  MappedFile file = MappedFile::open(path);
  const std::byte* const begin = file.bytes().data();
  {
    const MappedFile moved = std::move(file);
    EXPECT_EQ(base::mapped_file_at(begin), escaped_path(path));
  }
  EXPECT_EQ(base::mapped_file_at(begin), "");
}

TEST(MappedFileAt, NamesWhatATerminalMayShow) {
  const std::array<std::byte, 10> bytes{};
  const base::MappedRange range(bytes,
                                "a\x1b"
                                "b");
  EXPECT_EQ(base::mapped_file_at(bytes.data()), "a\\x1bb");
}

TEST(MappedFileAt, KnowsOnlySoManyFilesAndTakesPlacesAnew) {
  constexpr std::size_t most = 1024;
  const std::vector<std::byte> bytes(3 * most);
  std::vector<std::unique_ptr<base::MappedRange>> ranges;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    ranges.push_back(std::make_unique<base::MappedRange>(Bytes(bytes).subspan(i, 1), std::to_string(i)));
  }
  EXPECT_EQ(base::mapped_file_at(bytes.data()), "0");
  EXPECT_EQ(base::mapped_file_at(&bytes.back()), "") << "too many";
  ranges.front().reset();
  EXPECT_EQ(base::mapped_file_at(bytes.data()), "");
  const base::MappedRange another(Bytes(bytes).last(1), "another");
  EXPECT_EQ(base::mapped_file_at(&bytes.back()), "another");
}

TEST(MappedFileAt, IsRightWhileOtherThreadsMapFiles) {
  const std::array<std::byte, 64> bytes{};
  const base::MappedRange range(Bytes(bytes).first(8), "ours");
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < 4; ++i) {
    threads.emplace_back([&, i] {
      while (!done) const base::MappedRange other(Bytes(bytes).subspan(8 * i, 8), "theirs");
    });
  }
  int wrong = 0;
  for (int i = 0; i < 20'000; ++i) wrong += base::mapped_file_at(&bytes.at(3)) == "ours" ? 0 : 1;
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace onnxar::testing
