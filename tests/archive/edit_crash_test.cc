// What a crash leaves of an edit: the old state, the new one, or what `recover` makes one of the two.
//
// The calls of a real edit are logged and replayed by a model of a disk: what was synced is there; of what was written
// after the last sync any blocks of 512 bytes may be there, and the file may have any size on the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/system_calls.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::StartsWith;
constexpr std::size_t block = 512;

/// A file as the calls leave it if nothing goes wrong.
void apply(Blob& file, const FileCall& call) {
  if (call.kind == FileCall::Kind::sync) return;
  if (call.kind == FileCall::Kind::set_size) {
    file.resize(call.offset);
    return;
  }
  file.resize(std::max<std::uint64_t>(file.size(), call.offset + call.data.size()));
  put_bytes(file, call.offset, call.data);
}

/// The file before and after what was not synced yet when the machine stopped.
struct Interval {
  Blob synced;
  Blob unsynced;
};

std::vector<Interval> intervals_of(const Blob& before, const std::vector<FileCall>& calls) {
  std::vector<Interval> intervals = {{before, before}};
  for (const FileCall& call : calls) {
    apply(intervals.back().unsynced, call);
    if (call.kind == FileCall::Kind::sync) intervals.push_back({intervals.back().unsynced, intervals.back().unsynced});
  }
  return intervals;
}

/// `interval.unsynced`, but only with the blocks whose bits are set, and only so long.
Blob state_of(const Interval& interval, std::size_t first_block, std::uint64_t blocks, std::size_t size) {
  Blob file = interval.synced;
  file.resize(interval.unsynced.size());
  for (std::size_t i = first_block; i * block < file.size(); ++i) {
    if ((blocks >> (i - first_block) & 1U) == 0) continue;
    const std::size_t begin = i * block;
    const std::size_t length = std::min(block, file.size() - begin);
    put_bytes(file, begin, std::span(interval.unsynced).subspan(begin, length));
  }
  file.resize(size);
  return file;
}

std::vector<std::size_t> sizes_of(const Interval& interval) {
  const std::size_t before = interval.synced.size();
  const std::size_t after = interval.unsynced.size();
  std::vector<std::size_t> sizes = {before, after};
  for (std::size_t size = before; size < after; size += size % block == 0 ? block : block - size % block) {
    sizes.push_back(size);
  }
  for (std::size_t size = after; size > before && size + 128 > after; --size) sizes.push_back(size);
  std::ranges::sort(sizes);
  sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
  return sizes;
}

class CrashTest : public ::testing::Test {
 protected:
  /// Runs the edit for real and replays what a crash at any time, or at any time from an interval on, would have left.
  template <typename Edit>
  void expect_old_or_new(const Blob& before, const Edit& edit, std::size_t from = 0) {
    old_ = before;
    path_ = folder_.write_file("a", before);
    std::vector<FileCall> calls;
    {
      FileCallLog log;
      edit(path_);
      calls = log.calls();
    }
    new_ = folder_.read_file("a");
    const std::vector<Interval> intervals = intervals_of(before, calls);
    ASSERT_EQ(intervals.size(), 3U) << "one sync before the end record, one behind it";
    ASSERT_EQ(intervals[1].unsynced.size() - intervals[1].synced.size(), 22U);
    ASSERT_EQ(intervals.back().synced, new_);
    for (const Interval& interval : std::span(intervals).subspan(from)) replay(interval);
    EXPECT_GT(states_, 20U);
    EXPECT_GT(old_seen_, 0U);
    EXPECT_GT(new_seen_, 0U);
  }

 private:
  void replay(const Interval& interval) {
    const std::size_t first = interval.synced.size() / block;
    const std::size_t count = (interval.unsynced.size() + block - 1) / block - first;
    ASSERT_LT(count, 12U) << "too many blocks to try all subsets";
    for (std::uint64_t blocks = 0; blocks < (1ULL << count); ++blocks) {
      for (const std::size_t size : sizes_of(interval)) {
        const bool same_as_without = blocks >> ((size - 1) / block - first + 1) != 0;  // a block that is cut off
        if (!same_as_without) expect_good(state_of(interval, first, blocks, size));
      }
    }
  }

  /// Opening finds one of the two states whole, or nothing; then `recover` brings one of them back.
  void expect_good(const Blob& state) {
    ++states_;
    folder_.write_file("a", state);
    const auto refused = code_of([&] { return Archive::open(path_).size(); });
    if (!refused) {
      ASSERT_THAT(state, AnyOf(Eq(old_), Eq(new_)));
    } else {
      ASSERT_NE(*refused, Code::archive_busy);
    }
    recover(path_, {.sync = false, .dry_run = false});
    const Blob recovered = folder_.read_file("a");
    ASSERT_THAT(recovered, AnyOf(Eq(old_), Eq(new_)));
    ++(recovered == old_ ? old_seen_ : new_seen_);
  }

  TempDir folder_;
  fs::path path_;
  Blob old_, new_;
  std::size_t states_ = 0, old_seen_ = 0, new_seen_ = 0;
};

TEST_F(CrashTest, OtherModelIsThereOrNot) {
  expect_old_or_new(smallest_archive().bytes,
                    [](const fs::path& path) { ArchiveEditor::open(path).commit(smallest_model(256, "edited")); });
}

TEST_F(CrashTest, AddedEntriesAreThereOrNot) {
  expect_old_or_new(smallest_archive().bytes, [](const fs::path& path) {
    ArchiveEditor editor = ArchiveEditor::open(path);
    editor.add("b", pattern(700, 1));
    editor.add("c", pattern(300, 2));
    editor.commit(smallest_model(256, "edited"));
  });
}

TEST_F(CrashTest, Zip64EndRecordsAreThereOrNot) {
  ZipBuilder builder = smallest_builder();
  builder.force_zip64 = true;
  expect_old_or_new(builder.build(),
                    [](const fs::path& path) { ArchiveEditor::open(path).commit(smallest_model(256, "edited")); });
}

TEST_F(CrashTest, SecondEditIsThereOrNot) {
  const Built twice = append_edit(smallest_archive(), smallest_model(256, "once"), {zip_entry("b", pattern(30))});
  expect_old_or_new(twice.bytes,
                    [](const fs::path& path) { ArchiveEditor::open(path).commit(smallest_model(256, "edited")); });
}

// `g.onnx` is after the side file that is removed, so it is appended again.
TEST_F(CrashTest, GraphsAndSideFilesAreThereOrNot) {
  ZipBuilder builder = smallest_builder();
  builder.entries.insert(builder.entries.end() - 1,
                         {zip_entry("t.json", pattern(40)), zip_entry("g.onnx", smallest_model(256, "old"))});
  expect_old_or_new(builder.build(), [](const fs::path& path) {
    ArchiveEditor editor = ArchiveEditor::open(path);
    editor.remove("t.json");
    editor.add("h.onnx", smallest_model(256, "new"));
    editor.commit(smallest_model(256, "edited"));
  });
}

// The end record may lie on both sides of a border of blocks, of which one may be lost.
TEST_F(CrashTest, EndRecordThatCrossesABlockIsThereOrNot) {
  const Built before = smallest_archive();
  std::size_t crossing = 0;
  for (std::size_t more = 0; more < block; ++more) {
    const Blob model = smallest_model(256, std::string(more, 'p'));
    const std::size_t end = append_edit(before, model).bytes.size();
    if ((end - 1) / block == (end - 22) / block) continue;
    ++crossing;
    expect_old_or_new(before.bytes, [&](const fs::path& path) { ArchiveEditor::open(path).commit(model); }, 1);
  }
  EXPECT_EQ(crossing, 21U);
}

// --- Calls that fail -------------------------------------------------------------------------------------------------

struct FailedEdit {
  std::optional<Code> code;
  std::string message;
  bool failed = false;   // there were that many calls
  bool retried = false;  // a write that failed was made once more
  bool written = false;  // the call that failed gives reserved room back, which is not worth an error
};

/// Edits, with call number `failing` of the log failing by `reason`.
FailedEdit edit_failing_at(const fs::path& path, std::size_t failing, int reason) {
  FailedEdit edit;
  FileCallLog log;
  log.fail = [&edit, calls = std::size_t{0}, failing, reason, offset = std::uint64_t{0}](const FileCall& call) mutable {
    edit.retried =
        edit.retried || (calls == failing + 1 && call.kind == FileCall::Kind::write && call.offset == offset);
    if (calls++ != failing) return 0;
    edit.failed = true;
    edit.written = call.kind == FileCall::Kind::set_size;
    offset = call.kind == FileCall::Kind::write ? call.offset : ~std::uint64_t{0};
    return reason;
  };
  const auto error = error_if_any([&] {
    ArchiveEditor editor = ArchiveEditor::open(path);
    editor.add("b", pattern(200000, 1));
    editor.commit(smallest_model(256, "edited"));
  });
  if (error) {
    edit.code = error->code();
    edit.message = error->message();
  }
  return edit;
}

TEST(FailingCalls, LeaveTheFileUnchangedUntilTheEndRecord) {
  const TempDir folder;
  const Blob before = smallest_archive().bytes;
  const fs::path path = folder.write_file("a", before);
  std::size_t failing = 0, written = 0, standing = 0;
  for (; failing < 20; ++failing) {
    folder.write_file("a", before);
    const FailedEdit edit = edit_failing_at(path, failing, ENOSPC);
    if (!edit.failed) {
      EXPECT_EQ(edit.code, std::nullopt) << "no call failed";
      break;
    }
    if (edit.written) {
      ++written;
      EXPECT_EQ(edit.code, std::nullopt) << failing;
      EXPECT_NE(folder.read_file("a"), before) << failing;
    } else if (parts_are_written_together() || !edit.retried) {
      EXPECT_EQ(edit.code, Code::io_disk_full) << failing;
    }
    if (folder.read_file("a") == before) continue;
    if (edit.code) {  // the second sync: readers may have the new state already
      ++standing;
      EXPECT_THAT(edit.message, StartsWith("the edit was written (do not repeat it)"));
    }
    EXPECT_EQ(Archive::open(path).size(), 3U);
    EXPECT_EQ(recover(path).size, fs::file_size(path));
  }
  EXPECT_EQ(written, 1U) << "room is given back";
  EXPECT_EQ(standing, 1U);
  EXPECT_GE(failing, 5U) << "entry, its header, the tail, end record, and syncs";
  EXPECT_LT(failing, 20U);
}

TEST(FailingCalls, OfAWriterLeaveNothing) {
  const TempDir folder;
  for (std::size_t failing = 0;; ++failing) {
    ASSERT_LT(failing, 20U);
    FileCallLog log;
    log.fail = [calls = std::size_t{0}, failing](const FileCall&) mutable { return calls++ == failing ? EIO : 0; };
    const auto code = code_of([&] {
      ArchiveWriter writer = ArchiveWriter::create(folder / "a");
      writer.add("w", pattern(200000));
      writer.finish(smallest_model());
    });
    if (!code) break;
    EXPECT_EQ(code, Code::io_failed);
    if (folder.file_names().empty()) continue;
    EXPECT_EQ(Archive::open(folder / "a").size(), 2U) << "the folder's sync failed: the file is whole";
    fs::remove(folder / "a");
  }
}

// A file that is packed has no name before it is synced, so what a crash leaves is none or all of it.
TEST(Writing, IsSyncedWholeBeforeItIsNamed) {
  const TempDir folder;
  FileCallLog log;
  bool named_before = false;
  log.fail = [&](const FileCall&) {
    named_before = named_before || !folder.file_names().empty();
    return 0;
  };
  ArchiveWriter writer = ArchiveWriter::create(folder / "a");
  writer.add("w", pattern(200000));
  writer.finish(smallest_model());
  const std::vector<FileCall>& calls = log.calls();
  const auto first_sync = std::ranges::find(calls, FileCall::Kind::sync, &FileCall::kind);
  ASSERT_NE(first_sync, calls.end());
  Blob file;
  std::for_each(calls.begin(), first_sync, [&file](const FileCall& call) { apply(file, call); });
  EXPECT_EQ(file, folder.read_file("a"));
  EXPECT_TRUE(
      std::all_of(first_sync, calls.end(), [](const FileCall& call) { return call.kind == FileCall::Kind::sync; }));
  EXPECT_TRUE(named_before) << "the folder is synced with the name in it";
}

}  // namespace
}  // namespace onnxar::testing
