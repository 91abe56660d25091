// The buffer is compared with a simple model of a file: the bytes are equal wherever the borders fall.
#include "base/buffered_output.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <utility>

#include "base/mapped_file.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kib = 1024;
constexpr std::size_t buffer = 1024 * kib;
constexpr std::size_t direct = 64 * kib;  // pieces of this size and more do not pass through the buffer

/// Applies every call twice: to the output, and to bytes in memory.
class Twin {
 public:
  explicit Twin(bool write_back = false)
      : output_(base::OutputFile::create(folder_ / "a", base::Existing::refuse), write_back) {}

  void append(std::size_t size) {
    const Blob bytes = pattern(size, ++seed_);
    output_.append(bytes);
    note(bytes);
  }

  /// Bytes that are mapped from a file, in which they begin at `begin`.
  void append_mapped(std::size_t size, std::size_t begin, bool with_crc = false) {
    const fs::path path = folder_.write_file("mapped", pattern(begin + size, ++seed_));
    const base::MappedFile file = base::MappedFile::open(path);
    const Bytes bytes = file.bytes().subspan(begin);
    if (with_crc) {
      EXPECT_EQ(output_.append_with_crc(0, bytes, two_threads_), bitwise_crc32(bytes)) << size;
    } else {
      output_.append(bytes);
    }
    note(bytes);
  }

  void append_with_crc(std::size_t size, base::ThreadPool& threads) {
    const Blob bytes = pattern(size, ++seed_);
    const std::size_t before = std::min(size, std::size_t{3});  // whose CRC is continued
    const Bytes rest = Bytes(bytes).subspan(before);
    output_.append(Bytes(bytes).first(before));
    EXPECT_EQ(output_.append_with_crc(bitwise_crc32(Bytes(bytes).first(before)), rest, threads), bitwise_crc32(bytes));
    note(bytes);
  }

  void pad(std::size_t size) {
    output_.pad_to(model_.size() + size);
    model_.resize(model_.size() + size);
    EXPECT_EQ(output_.position(), model_.size());
  }

  void overwrite(std::size_t offset, std::size_t size) {
    const Blob bytes = pattern(size, ++seed_);
    output_.overwrite(offset, bytes);
    std::copy(bytes.begin(), bytes.end(), model_.begin() + static_cast<std::ptrdiff_t>(offset));
    EXPECT_EQ(output_.position(), model_.size());
  }

  void reserve(std::size_t size) { output_.reserve(size); }
  [[nodiscard]] std::size_t size() const { return model_.size(); }

  void expect_equal() {
    std::move(output_).finish().publish(base::Sync::none);
    EXPECT_TRUE(folder_.read_file("a") == model_);
  }

 private:
  void note(Bytes bytes) {
    model_.insert(model_.end(), bytes.begin(), bytes.end());
    EXPECT_EQ(output_.position(), model_.size());
  }

  TempDir folder_;
  base::BufferedOutput output_;
  base::ThreadPool two_threads_{2};
  Blob model_;
  std::uint32_t seed_ = 0;
};

TEST(BufferedOutput, NothingAppendedIsAnEmptyFile) { Twin().expect_equal(); }

TEST(BufferedOutput, SmallPiecesAreGathered) {
  Twin twin;
  for (std::size_t size = 0; size < 3000; size += 7) twin.append(size);
  EXPECT_GT(twin.size(), buffer / 2);
  twin.expect_equal();
}

TEST(BufferedOutput, PiecesAroundTheBordersArriveInOrder) {
  for (const std::size_t size : {direct - 1, direct, direct + 1, buffer - 1, buffer, buffer + 1}) {
    Twin twin;
    twin.append(1);
    twin.append(size);
    twin.append(2);
    twin.append(size);
    twin.expect_equal();
  }
}

TEST(BufferedOutput, RunsLongerThanOneCallArriveInOrder) {
  constexpr std::size_t step = 8 * buffer;  // calls end at multiples of it
  for (const std::size_t before : {std::size_t{0}, std::size_t{100}, direct}) {
    for (const std::size_t size : {step - before - 1, step - before, step - before + 1, 3 * step + 17}) {
      Twin twin(true);
      if (before != 0) twin.append(before);
      twin.append(size);
      twin.append(5);
      twin.expect_equal();
    }
  }
}

TEST(BufferedOutput, RunsSummedByAnyThreadsArriveInOrder) {
  constexpr std::size_t many = 2 * buffer, step = 512 * kib, round = 32 * buffer;
  for (const std::size_t count : {0U, 1U, 3U}) {
    base::ThreadPool threads(count);
    for (const std::size_t before : {std::size_t{0}, std::size_t{100}, step - 1, step}) {
      Twin twin(true);
      if (before != 0) twin.append(before);
      for (const std::size_t size : {std::size_t{0}, std::size_t{1}, direct, many - 1, many, many + 1, 5 * step + 17}) {
        twin.append_with_crc(size, threads);
      }
      if (count != 1 && before == 100) twin.append_with_crc(round + step, threads);
      twin.append(5);
      twin.overwrite(before, 3);
      twin.expect_equal();
    }
  }
}

TEST(BufferedOutput, BufferIsFilledToTheLastByte) {
  Twin twin;
  while (twin.size() + 60 * kib <= buffer) twin.append(60 * kib);
  twin.append(buffer - twin.size());
  twin.append(1);
  twin.expect_equal();
}

TEST(BufferedOutput, PaddingIsZeros) {
  Twin twin;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{4096}, std::size_t{4097}, 3 * buffer}) {
    twin.append(3);
    twin.pad(size);
  }
  twin.expect_equal();
}

TEST(BufferedOutput, OverwritesBufferAndFileUpToTheBorder) {
  Twin twin;
  twin.append(direct);  // in the file
  twin.append(1000);    // in the buffer
  twin.overwrite(10, 20);
  twin.overwrite(direct, 30);
  twin.overwrite(direct + 990, 10);
  twin.overwrite(direct - 10, 20);
  twin.overwrite(direct - 40, 40);
  twin.overwrite(direct, 1000);
  twin.append(50);
  twin.overwrite(direct - 5, 5);
  twin.overwrite(0, 1);
  twin.expect_equal();
}

TEST(BufferedOutput, ReservedRoomIsCutAtTheEnd) {
  Twin twin;
  twin.reserve(4 * buffer);
  twin.append(100);
  twin.append(direct);
  twin.expect_equal();
}

TEST(BufferedOutput, WritingBackEarlyChangesNoByte) {
  Twin twin(true);
  for (int i = 0; i < 35; ++i) {
    twin.append(buffer);
    twin.append(17);
  }
  twin.overwrite(buffer, 17);
  twin.expect_equal();
}

// If the file system of $TMPDIR can share blocks, these are shared; otherwise they are copied.
TEST(BufferedOutput, WritesMappedBytesAlignedWithBlocksOrNot) {
  for (const std::size_t before : {0U, 1U, 4095U, 4096U, 70'000U}) {
    for (const std::size_t begin : {before, before + 4096, before + 64}) {
      for (const std::size_t size : {buffer - 1, buffer, buffer + 4095, 2 * buffer + 4097}) {
        Twin twin;
        twin.append(before);
        twin.append_mapped(size, begin);
        twin.append(5);
        twin.append_mapped(size, begin + size + 5, true);
        twin.overwrite(before, 3);
        twin.expect_equal();
      }
    }
  }
}

TEST(BufferedOutput, WritesMappedBytesAfterReservedSpace) {
  Twin twin(true);
  twin.reserve(20 * buffer);
  for (std::size_t i = 0; i < 5; ++i) twin.append_mapped(3 * buffer + i, twin.size() % 4096);
  twin.expect_equal();
}

TEST(BufferedOutput, AnyMixOfCallsWritesTheBytesOfTheModel) {
  std::mt19937 random(20240607);  // NOLINT(bugprone-random-generator-seed): the same run every time
  const auto below = [&random](std::size_t limit) { return std::size_t{random()} % limit; };
  for (int round = 0; round < 8; ++round) {
    Twin twin;
    for (int step = 0; step < 120; ++step) {
      const std::size_t choice = below(10);
      if (choice < 5) {
        twin.append(below(choice < 4 ? direct : 3 * direct));
      } else if (choice < 7) {
        twin.pad(below(10000));
      } else if (twin.size() > 0) {
        const std::size_t offset = below(twin.size());
        twin.overwrite(offset, below(std::min(twin.size() - offset, direct) + 1));
      }
    }
    twin.expect_equal();
  }
}

// Several times, as it depends on the threads which of them meets the full disk.
TEST(BufferedOutput, FullDiskIsReportedInEveryThread) {
  const TempDir folder;
  const SmallDisk disk(folder.path(), 640 * kib);  // its first 512 KiB are written by one thread
  if (!disk.mounted()) GTEST_SKIP() << "no small disk can be mounted here";
  const Blob bytes = pattern(4096 * kib);
  base::ThreadPool threads(4);
  for (int time = 0; time < 400; ++time) {
    base::BufferedOutput output(base::OutputFile::create(folder / "a", base::Existing::refuse), false);
    EXPECT_EQ(code_of([&] { return output.append_with_crc(0, bytes, threads); }), Code::io_disk_full) << time;
  }
}

/// A mapped file that `change` is done to between its halves.
class ChangingSource final : public ByteSource {
 public:
  ChangingSource(const base::MappedFile& file, std::function<void()> change)
      : file_(file), change_(std::move(change)) {}
  [[nodiscard]] std::uint64_t size() const override { return file_.bytes().size(); }
  void read(const ByteSink& sink) const override {
    const std::size_t half = file_.bytes().size() / 2;
    sink(file_.bytes().first(half));
    change_();
    sink(file_.bytes().subspan(half));
  }
  void locate(const std::function<void(const Location&)>& visit) const override {
    visit({file_.bytes(), false, file_.origin()});
  }

 private:
  const base::MappedFile& file_;
  std::function<void()> change_;
};

class ChangedInputTest : public ::testing::TestWithParam<bool> {
 protected:
  /// What appending 256 KiB of the file `w` ends with if `change` is done meanwhile.
  std::optional<Code> code_with(const std::function<void(const fs::path&)>& change) {
    const fs::path path = folder_.write_file("w", pattern(256 * kib));
    fs::last_write_time(path, fs::last_write_time(path) - std::chrono::hours(1));  // clocks have steps
    const base::MappedFile file = base::MappedFile::open(path);
    const ChangingSource source(file, [&] { change(path); });
    base::BufferedOutput output(base::OutputFile::create(folder_ / "out", base::Existing::refuse), false);
    base::ThreadPool threads(2);
    return code_of([&] { GetParam() ? void(output.append_with_crc(0, source, threads)) : output.append(source); });
  }

  TempDir folder_;
};

INSTANTIATE_TEST_SUITE_P(WithAndWithoutASum, ChangedInputTest, ::testing::Bool());

TEST_P(ChangedInputTest, IsRefusedIfItsBytesWereWrittenTo) {
  EXPECT_EQ(code_with([](const fs::path& path) { std::fstream(path, std::ios::in | std::ios::out) << "other"; }),
            Code::io_changed);
}

TEST_P(ChangedInputTest, PassesIfItOnlyGrewOrIfAnotherFileHasItsName) {
  EXPECT_EQ(code_with([](const fs::path& path) { std::ofstream(path, std::ios::app) << "more"; }), std::nullopt);
  EXPECT_EQ(code_with([this](const fs::path& path) { fs::rename(folder_.write_file("new", "text"), path); }),
            std::nullopt);
  EXPECT_EQ(code_with([](const fs::path& path) { fs::remove(path); }), std::nullopt);
}

TEST(BufferedOutput, AppendsToAnExistingFile) {
  const TempDir folder;
  const std::filesystem::path path = folder.write_file("a", pattern(5000, 1));
  base::OutputFile file = base::OutputFile::extend(base::open_file(path, os::Access::read_and_write), path, 5000);
  base::BufferedOutput output(std::move(file), true, 5000);
  EXPECT_EQ(output.position(), 5000U);
  output.append(pattern(100, 2));
  output.overwrite(5000, pattern(50, 3));
  EXPECT_EQ(folder.read_file("a").size(), 5000U);
  output.sync();
  EXPECT_EQ(folder.read_file("a").size(), 5100U);
  output.append(pattern(direct, 4));
  std::move(output).finish().publish(base::Sync::none);
  Blob expected = pattern(5000, 1);
  for (const Blob& part : {pattern(50, 3), Blob(pattern(100, 2)), pattern(direct, 4)}) {
    const std::size_t from = part.size() == 100 ? 50 : 0;
    expected.insert(expected.end(), part.begin() + static_cast<std::ptrdiff_t>(from), part.end());
  }
  EXPECT_TRUE(folder.read_file("a") == expected);
}

}  // namespace
}  // namespace onnxar::testing
