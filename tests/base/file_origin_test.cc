// Bytes of a mapping lead to their file as long as its path leads to it.

#include "base/file_origin.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "archive/front_end.h"
#include "base/mapped_file.h"
#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using base::FileOrigins;
using base::MappedFile;
using base::MappedSource;

/// The bytes of the mapping's file at the place of `bytes`.
std::string found_text(const MappedFile& mapping, Bytes bytes) {
  const auto place = mapping.origin()->open(bytes);
  if (!place) return "nothing";
  std::string text(bytes.size(), ' ');
  std::error_code failed;
  text.resize(os::read_fully_at(place->file, std::as_writable_bytes(std::span(text)), place->offset, failed));
  return text;
}

TEST(FileOrigin, BytesAreFoundInTheirFile) {
  const TempDir folder;
  const MappedFile a = MappedFile::open(folder.write_file("a", "of the first"));
  const fs::path path = folder.write_file("b", std::string(5000, 'x') + "of the second");
  const os::File file = base::open_file(path, os::Access::read);
  const MappedFile b = MappedFile::map(file, {4990, std::nullopt}, path);
  EXPECT_EQ(found_text(a, a.bytes()), "of the first");
  EXPECT_EQ(found_text(a, a.bytes().subspan(7)), "first");
  EXPECT_EQ(found_text(b, b.bytes().subspan(10, 6)), "of the");
}

TEST(FileOrigin, DoesNotFindBytesOutsideTheMapping) {
  const TempDir folder;
  const Blob memory = pattern(100);
  const MappedFile a = MappedFile::open(folder.write_file("a", "text"));
  EXPECT_FALSE(a.origin()->open(memory));
  EXPECT_FALSE(a.origin()->open(Bytes(a.bytes().data(), 5)));
  EXPECT_FALSE(a.origin()->open(Bytes(a.bytes().data() - 1, 2)));
  EXPECT_FALSE(a.origin()->open(Bytes(a.bytes().data() + 4096, 1)));
}

TEST(FileOrigin, StaysTheSameWhenTheMappingMoves) {
  const TempDir folder;
  MappedFile first = MappedFile::open(folder.write_file("a", "text"));
  const base::FileOrigin* const origin = first.origin();
  const MappedFile moved = std::move(first);
  EXPECT_EQ(moved.origin(), origin);
  EXPECT_EQ(found_text(moved, moved.bytes()), "text");
}

TEST(FileOrigin, EmptyFileHasNoOrigin) {
  const TempDir folder;
  const MappedFile file = MappedFile::open(folder.write_file("a", ""));
  EXPECT_EQ(file.origin(), nullptr);
  EXPECT_FALSE(file.is_changed());
}

TEST(FileOrigin, BytesAreNotFoundInAnotherFileOfThatName) {
  const TempDir folder;
  const MappedFile file = MappedFile::open(folder.write_file("a", "text"));
  folder.write_file("b", "text");
  replace_file(folder / "b", folder / "a");
  EXPECT_FALSE(file.origin()->open(file.bytes()));
  fs::remove(folder / "a");
  EXPECT_FALSE(file.origin()->open(file.bytes()));
  make_pipe(folder / "a");
  EXPECT_FALSE(file.origin()->open(file.bytes()));  // without waiting for a writer
}

TEST(FileOrigin, DetectsReplacedFileAndGrownFile) {
  ONNXAR_NEEDS_CHANGE_OF_MAPPED_FILES();
  const TempDir folder;
  const MappedFile file = MappedFile::open(folder.write_file("a", "text"));
  EXPECT_FALSE(file.is_changed());
  folder.write_file("a", "longer text");
  EXPECT_TRUE(file.is_changed());
  const MappedFile again = MappedFile::open(folder / "a");
  replace_file(folder.write_file("b", "longer text"), folder / "a");
  EXPECT_TRUE(again.is_changed());
}

/// Several runs in sequence.
class Runs final : public ByteSource {
 public:
  explicit Runs(std::vector<const ByteSource*> parts) : parts_(std::move(parts)) {}
  [[nodiscard]] std::uint64_t size() const override { return 0; }
  void read(const ByteSink& sink) const override {
    for (const ByteSource* part : parts_) part->read(sink);
  }
  void locate(const std::function<void(const Location&)>& visit) const override {
    for (const ByteSource* part : parts_) part->locate(visit);
  }

 private:
  std::vector<const ByteSource*> parts_;
};

TEST(FileOrigins, EachRunLeadsToItsFile) {
  const TempDir folder;
  const MappedFile a = MappedFile::open(folder.write_file("a", "text"));
  const MappedFile b = MappedFile::open(folder.write_file("b", "text"));
  const Blob memory = pattern(4);
  const MappedSource of_a(a.bytes(), a.origin());
  const MappedSource of_b(b.bytes(), b.origin());
  const SpanSource of_memory(memory);
  const FileOrigins origins(Runs({&of_b, &of_memory, &of_a, &of_b}), 1);
  EXPECT_EQ(origins.find(a.bytes().subspan(1)), a.origin());
  EXPECT_EQ(origins.find(b.bytes()), b.origin());
  EXPECT_EQ(origins.find(memory), nullptr);
  EXPECT_EQ(origins.find(Bytes(a.bytes().data(), 5)), nullptr) << "beyond the file's last byte";
}

TEST(FileOrigins, IgnoresShortRuns) {
  const TempDir folder;
  const MappedFile a = MappedFile::open(folder.write_file("a", "text"));
  const MappedSource source(a.bytes(), a.origin());
  EXPECT_EQ(FileOrigins(source, 5).find(a.bytes()), nullptr);
  EXPECT_EQ(FileOrigins(source, 4).find(a.bytes()), a.origin());
}

/// Notes the bytes as mapped from a file of this path.
class Noted : public base::FileOrigin {
 public:
  Noted(Bytes bytes, const std::filesystem::path& path) : FileOrigin(path, {}, 0, bytes) {}
};

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

TEST(MappedFileAt, FollowsMovedMappingsAndForgetsEndedOnes) {
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
  const Noted range(bytes,
                    "a\x1b"
                    "b");
  EXPECT_EQ(base::mapped_file_at(bytes.data()), "a\\x1bb");
}

TEST(MappedFileAt, ForgetsFilesBeyondItsLimitAndReusesSlots) {
  constexpr std::size_t most = 1024;
  const std::vector<std::byte> bytes(3 * most);
  std::vector<std::unique_ptr<Noted>> ranges;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    ranges.push_back(std::make_unique<Noted>(Bytes(bytes).subspan(i, 1), std::to_string(i)));
  }
  EXPECT_EQ(base::mapped_file_at(bytes.data()), "0");
  EXPECT_EQ(base::mapped_file_at(&bytes.back()), "") << "too many";
  ranges.front().reset();
  EXPECT_EQ(base::mapped_file_at(bytes.data()), "");
  const Noted another(Bytes(bytes).last(1), "another");
  EXPECT_EQ(base::mapped_file_at(&bytes.back()), "another");
}

TEST(MappedFileAt, IsRightWhileOtherThreadsMapFiles) {
  const std::array<std::byte, 64> bytes{};
  const Noted range(Bytes(bytes).first(8), "ours");
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < 4; ++i) {
    threads.emplace_back([&, i] {
      while (!done) const Noted other(Bytes(bytes).subspan(8 * i, 8), "theirs");
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
