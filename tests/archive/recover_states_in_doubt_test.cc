// Earlier states that look whole at a glance: what `recover` and `undo` do about them.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>

#include "archive/three_states.h"
#include "support/system_calls.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

class StatesInDoubt : public StatesTest {};

TEST_F(StatesInDoubt, SkipsStateAfterABrokenModelHeader) {
  Blob bytes = third_.bytes;  // lists neither the model of the second state nor its directory, but needs both whole
  flip_bit(bytes, second_.entry(model_entry).header_offset + 10);
  expect_recovered_by_force(bytes, first_, "not the end of an earlier state");
  const Built second = edited(first_, "second");  // so that the state ends after the first entry of the next one
  bytes = edited(second, "third").bytes;
  flip_bit(bytes, second.entry(model_entry).header_offset + 10);
  expect_recovered_by_force(bytes, first_, "not the end of an earlier state");
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
  expect_not_undone(bytes, Code::archive_unrecoverable);
  EXPECT_EQ(Archive::open(path_).size(), 3U);
  expect_recovered_by_force(bytes, second_, "local");
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
  expect_recovered_by_force(bytes, first_, "__MODEL_PROTO");
}

TEST_F(StatesInDoubt, AWrongCrcIsOnlyForgivenInTheFirstState) {
  const Blob data = pattern(3000, 7);
  ZipEntry entry = zip_entry("c", data);
  const std::uint32_t crc = bitwise_crc32(Bytes(data).subspan(1000));  // as of a sum that was begun anew
  entry.in_both([crc](HeaderFields& header) { header.crc = crc; });
  expect_recovered_by_force(edited(first_, "next", {entry}).bytes, first_, "the data has CRC-32");
}

TEST_F(StatesInDoubt, RefusesUndoIfEarlierStateHasABrokenHeader) {
  const Built before = edited(first_, "before", {zip_entry("c", pattern(10)), zip_entry("d", pattern(20))});
  Blob bytes = edited(before, "after").bytes;
  flip_bit(bytes, before.entry("c").header_offset + 10);
  expect_not_undone(bytes, Code::archive_unrecoverable);
  EXPECT_EQ(Archive::open(path_).size(), 4U) << "opening needs this header in neither state";
}

TEST_F(StatesInDoubt, ACutIsSyncedIfThatIsAskedFor) {
  for (const auto& go_back : {&recover, &undo}) {
    for (const bool sync : {false, true}) {
      start_with(third_.bytes);
      if (go_back == &recover) fs::resize_file(path_, third_.bytes.size() - 1);
      const FileCallLog log;
      EXPECT_EQ(go_back(path_, {.sync = sync, .dry_run = false}).size, second_.bytes.size());
      const auto is_sync = [](const FileCall& call) { return call.kind == FileCall::Kind::sync; };
      EXPECT_EQ(std::ranges::any_of(log.calls(), is_sync), sync);
    }
  }
}

TEST_F(StatesInDoubt, AnEditBeyondTheDefaultLimitsIsNotCutOff) {
  constexpr std::size_t most = OpenOptions().max_entries;
  path_ = folder_ / "a";
  ArchiveWriter writer = ArchiveWriter::create(path_, {.output = unsynced});
  writer.add("w", Bytes());
  for (std::size_t i = 2; i < most; ++i) writer.add(std::to_string(i), Bytes());
  writer.finish(smallest_model(0));
  const std::uint64_t before = fs::file_size(path_);
  {
    ArchiveEditor edit = ArchiveEditor::open(path_, {.output = unsynced, .open = {.max_entries = most + 1}});
    edit.add("precious", pattern(5000));
    edit.commit(smallest_model(0, "second"));
  }
  EXPECT_EQ(recover(path_, unsynced).size, fs::file_size(path_));
  EXPECT_EQ(undo(path_, unsynced).size, before);
}

TEST_F(StatesInDoubt, AWholeArchiveIsNotTouched) {
  start_with(third_.bytes);
  const auto long_ago = fs::last_write_time(path_) - std::chrono::hours(1);
  fs::last_write_time(path_, long_ago);
  EXPECT_EQ(recover(path_, unsynced).size, third_.bytes.size());
  EXPECT_EQ(fs::last_write_time(path_), long_ago);
}

TEST_F(StatesInDoubt, ALargeEditThatDidNotFinishIsTorn) {
  Blob bytes = edited(first_, "next", {zip_entry("large", pattern(200'000))}).bytes;
  truncate(bytes, first_.bytes.size() + 150'000);  // no end record is near the end
  start_with(bytes);
  EXPECT_EQ(error_of_opening().value().code(), Code::archive_torn);
}

TEST_F(StatesInDoubt, PrefixThatIsNotAnArchiveChangesNoError) {
  Built broken = smallest_archive();
  flip_bit(broken.bytes, broken.directory_offset + 8);  // the flags of an entry
  Blob bytes = broken.bytes;
  bytes.insert(bytes.end(), first_.bytes.begin(), first_.bytes.begin() + 100);
  start_with(bytes);
  EXPECT_EQ(error_of_opening().value().code(), Code::zip_end_not_last);
  expect_unrecoverable(bytes);
}

}  // namespace
}  // namespace onnxar::testing
