// Earlier states that look whole at a glance: what `recover` and `undo` do about them.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "archive/opened.h"
#include "onnxar/archive.h"
#include "onnxar/edit.h"
#include "support/refusal.h"
#include "support/system_calls.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

constexpr CutOptions quickly = {.sync = false, .dry_run = false};

class StatesInDoubt : public ::testing::Test {
 protected:
  fs::path with(const Blob& bytes) { return folder_.write_file("a", bytes); }
  void expect_unrecoverable(const Blob& bytes) {
    const fs::path path = with(bytes);
    EXPECT_EQ(code_of([&] { return recover(path, quickly).size; }), Code::archive_unrecoverable);
    EXPECT_EQ(folder_.read_file("a"), bytes);
  }

  TempDir folder_;
  Built first_ = smallest_archive();
  Built second_ = edited(first_, "second", {zip_entry("b", pattern(700, 1))});
  Built third_ = edited(second_, "third");
};

TEST_F(StatesInDoubt, AStateAfterOneWhoseModelHasABrokenHeaderIsNotGoneBackTo) {
  Blob bytes = third_.bytes;  // lists neither the model of the second state nor its directory, but needs both whole
  flip_bit(bytes, second_.entry(model_entry).header_offset + 10);
  const fs::path path = with(bytes);
  EXPECT_EQ(recover(path, quickly).size, first_.bytes.size());
  EXPECT_EQ(folder_.read_file("a"), first_.bytes);
  const Built second = edited(first_, "second");  // so that the state ends after the first entry of the next one
  bytes = edited(second, "third").bytes;
  flip_bit(bytes, second.entry(model_entry).header_offset + 10);
  EXPECT_EQ(recover(with(bytes), quickly).size, first_.bytes.size());
}

TEST_F(StatesInDoubt, AnEmptyEntryWithAWrongCrcIsDamage) {
  ZipEntry empty = zip_entry("e", {});
  empty.in_both([](HeaderFields& header) { header.crc = 1U; });
  expect_unrecoverable(built_with({zip_entry("w", pattern(10)), empty}).bytes);
}

TEST_F(StatesInDoubt, AnEditThatIsDamagedInTheMiddleIsNotUndone) {
  // The directory is whole, so the archive opens. But the walk over the states ends at the header of the new model.
  Blob bytes = third_.bytes;
  flip_bit(bytes, third_.entry(model_entry).header_offset);
  const fs::path path = with(bytes);
  EXPECT_EQ(Archive::open(path).size(), 3U);
  EXPECT_EQ(code_of([&] { return undo(path, quickly).size; }), Code::usage_nothing_to_undo);
  EXPECT_EQ(folder_.read_file("a"), bytes);
  EXPECT_EQ(recover(path, quickly).size, second_.bytes.size());
}

TEST_F(StatesInDoubt, AStateAfterOneWithABrokenEndIsNotGoneBackTo) {
  Blob bytes = second_.bytes;
  put_u32(bytes, first_.end_offset + 12, 1);  // the size of the first directory
  expect_unrecoverable(bytes);
}

TEST_F(StatesInDoubt, ADirectoryWithoutANewModelIsNotAnEdit) {
  Blob bytes = first_.bytes;
  const Bytes directory = Bytes(first_.bytes).subspan(first_.directory_offset);
  bytes.insert(bytes.end(), directory.begin(), directory.end());
  put_u32(bytes, bytes.size() - 6, static_cast<std::uint32_t>(first_.bytes.size()));
  const fs::path path = with(bytes);
  EXPECT_EQ(recover(path, quickly).size, first_.bytes.size());
}

TEST_F(StatesInDoubt, AWrongCrcIsOnlyForgivenInTheFirstState) {
  const Blob data = pattern(3000, 7);
  ZipEntry entry = zip_entry("c", data);
  const std::uint32_t crc = bitwise_crc32(Bytes(data).subspan(1000));  // as of a sum that was begun anew
  entry.in_both([crc](HeaderFields& header) { header.crc = crc; });
  const fs::path path = with(edited(first_, "next", {entry}).bytes);
  EXPECT_EQ(recover(path, quickly).size, first_.bytes.size());
}

TEST_F(StatesInDoubt, AnEditIsNotUndoneIfTheStateBeforeHasABrokenHeader) {
  const Built before = edited(first_, "before", {zip_entry("c", pattern(10)), zip_entry("d", pattern(20))});
  Blob bytes = edited(before, "after").bytes;
  flip_bit(bytes, before.entry("c").header_offset + 10);
  const fs::path path = with(bytes);
  EXPECT_EQ(Archive::open(path).size(), 4U) << "opening needs this header in neither state";
  EXPECT_EQ(code_of([&] { return undo(path, quickly).size; }), Code::archive_unrecoverable);
  EXPECT_EQ(folder_.read_file("a"), bytes);
}

TEST_F(StatesInDoubt, ACutIsSyncedIfThatIsAskedFor) {
  for (const auto& go_back : {&recover, &undo}) {
    for (const bool sync : {false, true}) {
      const fs::path path = with(third_.bytes);
      if (go_back == &recover) fs::resize_file(path, third_.bytes.size() - 1);
      const FileCallLog log;
      EXPECT_EQ(go_back(path, {.sync = sync, .dry_run = false}).size, second_.bytes.size());
      const auto is_sync = [](const FileCall& call) { return call.kind == FileCall::Kind::sync; };
      EXPECT_EQ(std::ranges::any_of(log.calls(), is_sync), sync);
    }
  }
}

TEST_F(StatesInDoubt, AWholeArchiveIsNotTouched) {
  const fs::path path = with(third_.bytes);
  const auto long_ago = fs::last_write_time(path) - std::chrono::hours(1);
  fs::last_write_time(path, long_ago);
  EXPECT_EQ(recover(path, quickly).size, third_.bytes.size());
  EXPECT_EQ(fs::last_write_time(path), long_ago);
}

TEST_F(StatesInDoubt, ALargeEditThatDidNotFinishIsTorn) {
  Blob bytes = edited(first_, "next", {zip_entry("large", pattern(200'000))}).bytes;
  truncate(bytes, first_.bytes.size() + 150'000);  // no end record is near the end
  const fs::path path = with(bytes);
  EXPECT_EQ(code_of([&] { return Archive::open(path).size(); }), Code::archive_torn);
}

TEST_F(StatesInDoubt, APrefixThatIsNoArchiveExplainsNothing) {
  Built broken = smallest_archive();
  flip_bit(broken.bytes, broken.directory_offset + 8);  // the flags of an entry
  Blob bytes = broken.bytes;
  bytes.insert(bytes.end(), first_.bytes.begin(), first_.bytes.begin() + 100);
  const fs::path path = with(bytes);
  EXPECT_EQ(code_of([&] { return Archive::open(path).size(); }), Code::zip_end_not_last);
  expect_unrecoverable(bytes);
}

TEST_F(StatesInDoubt, AFileShorterThanAnEndRecordIsToldToBe) {
  for (const std::size_t size : {0U, 1U, 21U}) {
    Blob bytes = first_.bytes;
    truncate(bytes, size);
    const fs::path path = with(bytes);
    EXPECT_EQ(code_of([&] { return Archive::open(path).size(); }), Code::zip_end_missing) << size;
    EXPECT_FALSE(is_archive(path));
    expect_unrecoverable(bytes);
  }
}

}  // namespace
}  // namespace onnxar::testing
