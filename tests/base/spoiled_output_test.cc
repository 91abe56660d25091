// A file of which a write failed is not published, even if the error was lost.
#include <gtest/gtest.h>

#include <cerrno>
#include <utility>

#include "base/output_files.h"
#include "support/special_files.h"
#include "support/system_calls.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using base::Existing;
using base::OutputFile;
using base::Sync;

/// Writes at an offset that no file has, which fails like a disk error.
void write_in_vain(OutputFile& file) {
  EXPECT_EQ(code_of([&] { file.write_at(~std::uint64_t{0} >> 1U, as_bytes("x")); }), Code::io_failed);
}

TEST(SpoiledOutput, IsNotPublishedEvenIfTheErrorWasLost) {
  const TempDir folder;
  folder.write_file("a", "good");
  OutputFile file = written(folder / "a", "new", Existing::replace);
  write_in_vain(file);
  const auto expect_refused = [&](const auto& action) { EXPECT_EQ(code_of(action), Code::usage_writer_failed); };
  expect_refused([&] { file.publish(Sync::none); });
  expect_refused([&] { file.prepare(Sync::none); });
  expect_refused([&] { file.park(Sync::none); });
  expect_refused([&] { file.write_at(0, as_bytes("x")); });
  expect_refused([&] { file.set_size(1); });
  OutputFile moved = std::move(file);
  expect_refused([&] { moved.publish(Sync::none); });
  EXPECT_EQ(folder.read_text("a"), "good");
  EXPECT_EQ(visible_names(folder), Strings{"a"});
}

TEST(SpoiledOutput, IsCutOffAgainWhereItExtendsAFile) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", "good");
  {
    OutputFile file = OutputFile::extend(base::open_file(path, os::Access::read_and_write), path, 4);
    file.write_at(4, as_bytes("more"));
    write_in_vain(file);
    EXPECT_EQ(code_of_publishing(file), Code::usage_writer_failed);
  }
  EXPECT_EQ(folder.read_text("a"), "good");
}

// After an fsync that reports lost pages, a second fsync succeeds.
TEST(SpoiledOutput, IsNotSyncedASecondTime) {
  const TempDir folder;
  OutputFile file = written(folder / "a", "new");
  {
    FileCallLog log;
    log.fail = [](const FileCall& call) { return call.kind == FileCall::Kind::sync ? EIO : 0; };
    EXPECT_EQ(code_of([&] { file.publish(Sync::full); }), Code::io_failed);
  }
  EXPECT_EQ(code_of_publishing(file), Code::usage_writer_failed);
  EXPECT_EQ(visible_names(folder), Strings{});
}

}  // namespace
}  // namespace onnxar::testing
