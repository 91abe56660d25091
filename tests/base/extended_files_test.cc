// Signal handlers cut extended files back. The tests run in processes of their own, because abandoning one is final.
#include "base/extended_files.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "base/output_file.h"
#include "support/child.h"
#include "support/refusal.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using base::OutputFile;

OutputFile extended(const TempDir& folder, std::string_view name) {
  const fs::path path = folder.write_file(name, "old");
  OutputFile file = OutputFile::extend(base::open_file(path, os::Access::read_and_write), path, 3);
  file.write_at(3, as_bytes(" and new"));
  return file;
}

TEST(ExtendedFiles, AreTruncatedAndNotWrittenAfterwards) {
  const auto abandon = [] {
    const TempDir folder;
    OutputFile first = extended(folder, "a");
    OutputFile second = extended(folder, "b");
    base::cut_back_extended_files();
    EXPECT_EQ(code_of([&] { first.write_at(3, as_bytes("more")); }), Code::io_failed);
    EXPECT_TRUE(base::is_abandoned());
    EXPECT_EQ(folder.read_text("a"), "old");
    EXPECT_EQ(folder.read_text("b"), "old");
    return HasFailure() ? 1 : 0;
  };
  ONNXAR_EXPECT_IN_CHILD(abandon, 0);
}

// It is enough that the last write has begun.
TEST(ExtendedFiles, AreKeptAfterTheirLastWriteOrPublishing) {
  const auto abandon = [] {
    const TempDir folder;
    OutputFile first = extended(folder, "a");
    first.begin_last_write();
    extended(folder, "b").publish(base::Sync::none);
    base::cut_back_extended_files();
    EXPECT_EQ(folder.read_text("a"), "old and new");
    EXPECT_EQ(folder.read_text("b"), "old and new");
    return HasFailure() ? 1 : 0;
  };
  ONNXAR_EXPECT_IN_CHILD(abandon, 0);
}

TEST(ExtendedFiles, AreTruncatedAfterWritesOfOtherThreads) {
  const auto abandon = [] {
    const TempDir folder;
    const OutputFile file = extended(folder, "a");
    const os::File other = base::open_file(folder / "a", os::Access::read_and_write);
    std::binary_semaphore begun(0);
    std::thread thread([&] {
      const base::ExtendingWrite write;
      begun.release();
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      std::error_code ignored;
      os::write_at(other, 10, as_bytes(" and late"), {}, ignored);
    });
    begun.acquire();
    const base::ExtendingWrite interrupted;  // by the handler, which does not wait for it
    const auto before = std::chrono::steady_clock::now();
    base::cut_back_extended_files();
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(1900));
    thread.join();
    EXPECT_EQ(folder.read_text("a"), "old");
    return HasFailure() ? 1 : 0;
  };
  ONNXAR_EXPECT_IN_CHILD(abandon, 0);
}

TEST(ExtendedFiles, OtherFilesAreNotTruncated) {
  const auto abandon = [] {
    const TempDir folder;
    OutputFile created = OutputFile::create(folder / "a", base::Existing::refuse);
    created.write_at(0, as_bytes("text"));
    {
      const OutputFile discarded = extended(folder, "b");
    }
    const fs::path path = folder.write_file("c", "takes the number of the descriptor");
    const os::File other = base::open_file(path, os::Access::read_and_write);
    base::cut_back_extended_files();
    created.publish(base::Sync::none);
    EXPECT_EQ(folder.read_text("a"), "text");
    EXPECT_EQ(folder.read_text("c"), "takes the number of the descriptor");
    return HasFailure() ? 1 : 0;
  };
  ONNXAR_EXPECT_IN_CHILD(abandon, 0);
}

TEST(ExtendedFiles, SlotsAreReused) {
  const auto count_cut_files = [] {
    const TempDir folder;
    for (int i = 0; i < 100; ++i) {
      const OutputFile discarded = extended(folder, "a");
    }
    std::vector<OutputFile> many;
    for (int i = 0; i < 20; ++i) many.push_back(extended(folder, "f" + std::to_string(i)));
    base::cut_back_extended_files();
    int cut = 0;
    for (int i = 0; i < 20; ++i) cut += folder.read_text("f" + std::to_string(i)) == "old" ? 1 : 0;
    return cut;
  };
  ONNXAR_EXPECT_IN_CHILD(count_cut_files, 16);
}

}  // namespace
}  // namespace onnxar::testing
