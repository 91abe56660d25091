// Many threads use one archive, and race for every first use.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/parallel.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/model_stream.h"
#include "onnxar/tensors.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

constexpr int thread_count = 8;
constexpr int rounds = 30;
constexpr std::size_t entry_count = 40;

/// Runs `work` in all threads, which begin at the same time. Returns in how many it returned false or threw.
int failures_of(const std::function<bool(int)>& work) {
  std::barrier start(thread_count);
  std::atomic<int> failures = 0;
  const auto run = [&](int thread) {
    start.arrive_and_wait();
    try {
      if (!work(thread)) ++failures;
    } catch (const std::exception&) {
      ++failures;
    }
  };
  std::vector<base::JoinedThread> threads;
  for (int i = 0; i < thread_count; ++i) threads.emplace_back(run, i);
  threads.clear();
  return failures;
}

void expect_no_failures(const std::function<bool(int)>& work) { EXPECT_EQ(failures_of(work), 0); }

std::string name_of(std::size_t i) { return "entry_" + std::to_string(i); }

const Built& archive_of_many() {
  static const Built built = [] {
    ZipBuilder builder = smallest_builder();
    for (std::size_t i = 0; i < entry_count; ++i) {
      builder.entries.insert(builder.entries.end() - 1,
                             zip_entry(name_of(i), pattern(100 + i, static_cast<std::uint32_t>(i))));
    }
    return builder.build_placed();
  }();
  return built;
}

bool is_data_of(Bytes bytes, std::string_view name) {
  const PlacedEntry& place = archive_of_many().entry(name);
  return std::ranges::equal(bytes, Bytes(archive_of_many().bytes).subspan(place.data_offset, place.data_size));
}

/// Uses every entry. Threads begin at different entries.
bool use_all(const Archive& archive, int thread) {
  bool right = is_data_of(archive.model(), model_entry);
  for (std::size_t step = 0; step < archive.size(); ++step) {
    const std::size_t i = (step + static_cast<std::size_t>(thread % 3) * 7) % archive.size();
    const ArchiveEntry entry = archive.entry(i);
    const auto found = archive.find(entry.name);
    right = right && found && found->index == i;
    right = right && is_data_of(thread % 2 == 0 ? archive.bytes(entry) : archive.resolve(entry.name), entry.name);
    right = right && archive.resolve(entry.name, 8, 4).data() == archive.bytes(entry).data() + 8;
    right = right && archive.locate(entry).offset == archive_of_many().entry(entry.name).data_offset;
  }
  return right && !archive.find("none");
}

TEST(ArchiveThreads, ThreadsMayRaceForTheFirstUseOfEntries) {
  for (int round = 0; round < rounds; ++round) {
    const Archive archive = Archive::open(archive_of_many().bytes, nullptr);
    expect_no_failures([&](int thread) { return use_all(archive, thread); });
  }
}

TEST(ArchiveThreads, EveryThreadGetsTheErrorOfALocalHeader) {
  Blob damaged = archive_of_many().bytes;
  flip_bit(damaged, archive_of_many().entry(name_of(7)).header_offset + 6);
  for (int round = 0; round < rounds; ++round) {
    const Archive archive = Archive::open(damaged, nullptr);
    expect_no_failures([&](int) {
      const bool others = is_data_of(archive.resolve(name_of(8)), name_of(8));
      return others && code_of([&] { return archive.resolve(name_of(7)); }) == Code::zip_local_field;
    });
  }
}

TEST(ArchiveThreads, CrcsMayBeComparedAtOnce) {
  const Archive archive = Archive::open(archive_of_many().bytes, nullptr);
  expect_no_failures([&](int) {
    for (std::size_t i = 0; i < archive.size(); ++i) archive.verify(archive.entry(i));
    return true;
  });
}

TEST(ArchiveThreads, OneFileMayBeOpenedByAll) {
  const TempDir folder;
  const std::filesystem::path path = folder.write_file("a", archive_of_many().bytes);
  expect_no_failures([&](int thread) {
    for (int i = 0; i < 5; ++i) {
      if (!use_all(Archive::open(path), thread)) return false;
    }
    return true;
  });
}

TEST(ArchiveThreads, LastShareOfTheMappingMayGoInAnyThread) {
  const TempDir folder;
  const std::filesystem::path path = folder.write_file("a", archive_of_many().bytes);
  for (int round = 0; round < rounds; ++round) {
    auto archive = std::make_unique<Archive>(Archive::open(path));
    const Bytes weight = archive->resolve("w");
    std::vector<std::shared_ptr<const void>> shares(thread_count, archive->owner());
    archive.reset();
    expect_no_failures([&](int thread) {
      const bool right = is_data_of(weight, "w");
      shares[static_cast<std::size_t>(thread)].reset();
      return right;
    });
  }
}

// Two threads sum and write a large entry.
TEST(ArchiveThreads, WritersOfLargeEntriesDoNotDisturbEachOther) {
  const TempDir folder;
  const Blob weight = pattern(std::size_t{5} << 20U, 8);
  expect_no_failures([&](int thread) {
    const std::filesystem::path path = folder / name_of(static_cast<std::size_t>(thread));
    ArchiveWriter writer = ArchiveWriter::create(path, {.output = {.sync = false}, .verify_model = false});
    for (int i = 0; i < 3; ++i) writer.add("w" + std::to_string(i), weight);
    writer.finish(as_bytes("model"));
    const Archive archive = Archive::open(path);
    archive.verify(*archive.find("w2"));
    return std::ranges::equal(archive.resolve("w1"), weight);
  });
}

// Two threads in one writer would mix their entries. The second waits until the first is at work.
TEST(WriterThreads, FinishDuringAnAddFailsTheWriter) {
  const TempDir folder;
  folder.write_file("a", "good");
  ArchiveWriter writer =
      ArchiveWriter::create(folder / "a", {.output = {.overwrite = true, .sync = false}, .verify_model = false});
  std::optional<Code> second;
  const StreamReader reader = [&](std::span<std::byte> buffer) {
    std::thread([&] { second = code_of([&] { writer.finish(as_bytes("model")); }); }).join();
    return buffer.size();
  };
  EXPECT_EQ(code_of([&] { writer.add("w", 100, reader); }), Code::usage_writer_busy);
  EXPECT_EQ(second, Code::usage_writer_busy);
  EXPECT_EQ(code_of([&] { writer.finish(as_bytes("model")); }), Code::usage_writer_failed);
  EXPECT_EQ(folder.read_text("a"), "good");
}

TEST(WriterThreads, ManyThreadsPublishAWholeArchiveOrNone) {
  for (int round = 0; round < rounds; ++round) {
    const TempDir folder;
    ArchiveWriter writer = ArchiveWriter::create(folder / "a", {.output = {.sync = false}, .verify_model = false});
    const int failures = failures_of([&](int thread) {
      writer.add(name_of(static_cast<std::size_t>(thread)), pattern(100000));
      return true;
    });
    const auto code = code_of([&] { writer.finish(as_bytes("model")); });
    EXPECT_EQ(code.has_value(), failures != 0);
    if (code) {
      EXPECT_EQ(code, Code::usage_writer_failed);
      EXPECT_EQ(folder.file_names(), std::vector<std::string>());
      continue;
    }
    const Archive archive = Archive::open(folder / "a");
    ASSERT_EQ(archive.size(), std::size_t{thread_count} + 1);
    for (std::size_t i = 0; i < archive.size(); ++i) archive.verify(archive.entry(i));
  }
}

TEST(WriterThreads, ModelWriterHasAllWeightsOrFails) {
  const auto nothing = std::make_shared<SpanSource>(Bytes());
  for (int round = 0; round < rounds; ++round) {
    ModelWriter writer;
    const int failures = failures_of([&](int) {
      for (int i = 0; i < 100; ++i) static_cast<void>(writer.add(nothing));
      return true;
    });
    const auto code = code_of([&] { return writer.add(nothing); });
    EXPECT_EQ(code.has_value(), failures != 0);
  }
}

// A copy of data at an odd address is made once for all threads.
TEST(ArchiveThreads, AlignedCopyOfAnInlineTensorIsOneForAllThreads) {
  const Message proto =
      model({.graph = graph({.initializers = {tensor("a", dtype::float32, {300}).raw_data(pattern(1200)),
                                              tensor("odd", dtype::float32, {300}).raw_data(pattern(1200, 1))}})});
  ZipBuilder builder;
  builder.entries.push_back(zip_entry(model_entry, proto.view()));
  const Blob bytes = builder.build();
  for (int round = 0; round < rounds; ++round) {
    const Archive archive = Archive::open(bytes, nullptr);
    const std::vector<StoredTensor> stored = tensors(archive);
    std::vector<const std::byte*> seen(thread_count);
    expect_no_failures([&](int thread) {
      const ByteSpan data = tensor_data(archive, stored[1]);
      seen[static_cast<std::size_t>(thread)] = data.bytes().data();
      return data.alignment() >= 64 && std::ranges::equal(data.bytes(), pattern(1200, 1));
    });
    EXPECT_EQ(std::ranges::count(seen, seen.front()), thread_count);
  }
}

TEST(WriterThreads, TwoWriteTheBytesThatOneWrites) {
  const TempDir folder;
  const Blob large = pattern((std::size_t{9} << 20U) + 17, 3);
  const auto written = [&](std::size_t threads) {
    const auto path = folder / ("by_" + std::to_string(threads));
    const WriterOptions options = {.output = {.sync = false, .threads = threads}, .verify_model = false};
    ArchiveWriter writer = ArchiveWriter::create(path, options);
    for (const char* name : {"a", "b", "c"}) writer.add(name, large);
    writer.finish(as_bytes("no model"));
    return path;
  };
  const auto by_two = written(2);
  EXPECT_TRUE(folder.read_file(by_two.filename().string()) == folder.read_file(written(1).filename().string()));
  const Archive archive = Archive::open(by_two);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(std::ranges::equal(archive.bytes(archive.entry(i)), large));
}

}  // namespace
}  // namespace onnxar::testing
