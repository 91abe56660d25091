// Many threads use one archive of the reader in C, and race for the first use of each entry.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <vector>

#include "base/parallel.h"
#include "reader/reading.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

constexpr int threads = 8;
constexpr std::size_t weights = 40;

Blob archive_of_weights() {
  std::vector<ZipEntry> entries;
  Messages tensors;
  for (std::size_t i = 0; i < weights; ++i) {
    const std::string name = "w" + std::to_string(i);
    entries.push_back(zip_entry(name, pattern(256, static_cast<std::uint32_t>(i))));
    tensors.push_back(linked_floats(name, 64, name));
  }
  return archive_of(model_of(tensors), entries).bytes;
}

/// All that a thread can do; the number of tensors that it found.
std::size_t use(const onnxar_reader* archive, std::size_t first) {
  for (std::size_t i = 0; i < weights; ++i) {
    if (fault_of_use(archive, (first + i) % weights)) return 0;
    if (onnxar_reader_verify(archive, (first + i) % weights, nullptr) < 0) return 0;
  }
  std::size_t found = 0;
  const auto fault = walk_model(archive, weights, [&](const onnxar_reader_walk*, const onnxar_reader_tensor& tensor) {
    if (onnxar_reader_find(archive, tensor.name, tensor.name_length) == tensor.entry) ++found;
  });
  return fault || onnxar_reader_check(archive, OAR_CHECK_DATA, nullptr) < 0 ? 0 : found;
}

TEST(ReaderThreads, ShareAnArchive) {
  const Blob bytes = archive_of_weights();
  for (int round = 0; round < 10; ++round) {
    const Reader archive = opened(bytes);
    std::barrier start(threads);
    std::atomic<int> successes = 0;
    {
      std::vector<base::JoinedThread> running;
      for (int i = 0; i < threads; ++i) {
        running.emplace_back([&, i] {
          start.arrive_and_wait();
          if (use(archive.get(), static_cast<std::size_t>(i) * 5) == weights) ++successes;
        });
      }
    }
    EXPECT_EQ(successes, threads);
  }
}

}  // namespace
}  // namespace onnxar::testing
