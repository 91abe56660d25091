// Going back: what an interrupted edit left is cut off, and so is the last edit if that is wanted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/allocations.h"
#include "archive/three_states.h"
#include "base/open_file.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

using ::testing::HasSubstr;

class EarlierStateTest : public StatesTest {};

// --- Torn ------------------------------------------------------------------------------------------------------------

TEST_F(EarlierStateTest, EveryPartOfAnEditIsTornAndRecovered) {
  for (std::size_t size = first_.bytes.size() + 1; size < second_.bytes.size(); ++size) {
    Blob cut = second_.bytes;
    truncate(cut, size);
    start_with(cut);
    const auto error = error_of_opening();
    ASSERT_TRUE(error);
    ASSERT_EQ(error->code(), Code::archive_torn) << size;
    ASSERT_EQ(error->offset(), first_.bytes.size());
    ASSERT_EQ(error->path(), path_);
    ASSERT_EQ(recover(path_, unsynced).size, first_.bytes.size());
    ASSERT_EQ(now(), first_.bytes);
  }
  start_with(first_.bytes);
  EXPECT_FALSE(error_of_opening());
}

TEST_F(EarlierStateTest, TornFileSaysWhatRepairsIt) {
  Blob cut = third_.bytes;
  truncate(cut, cut.size() - 1);
  start_with(cut);
  EXPECT_EQ(error_of_opening()->advice().hint, Hint::recover_cuts);
  EXPECT_EQ(error_of_opening()->offset(), second_.bytes.size());
}

TEST_F(EarlierStateTest, OtherBytesAtTheEndAreNotAnEditButAreCut) {
  for (const Blob& more : {zeros(1), zeros(70000), blob("\n"), blob("PK\5\6"), blob("some text that was appended")}) {
    Blob bytes = first_.bytes;
    bytes.insert(bytes.end(), more.begin(), more.end());
    start_with(bytes);
    expect_error(error_of_opening(), {.code = more.size() > 65535 ? Code::zip_end_missing : Code::zip_end_not_last,
                                      .hint = Hint::recover_cuts});
    expect_recovered(bytes, first_);
  }
}

TEST_F(EarlierStateTest, FirstStateThatWasCutShortCannotBeRecovered) {
  for (std::size_t size = 0; size < first_.bytes.size(); size += 7) {
    Blob cut = first_.bytes;
    truncate(cut, size);
    start_with(cut);
    EXPECT_EQ(error_of_opening()->code(), Code::zip_end_missing);
    EXPECT_THAT(error_of_opening()->what(), ::testing::Not(HasSubstr("recover")));
    expect_unrecoverable(cut);
  }
  expect_unrecoverable(blob("this is no archive at all, and never was one"));
}

TEST_F(EarlierStateTest, ArchiveInAnEntryIsNotAState) {
  // An archive stored in an archive: its records are data, wherever the outer one is cut.
  const Built outer = edited(first_, "outer", {zip_entry("inner.onnxar", second_.bytes)});
  const PlacedEntry& inner = outer.entry("inner.onnxar");
  for (const std::size_t end : {first_.bytes.size(), second_.bytes.size()}) {
    Blob cut = outer.bytes;
    truncate(cut, inner.data_offset + end);
    expect_recovered(cut, first_);
  }
  expect_recovered(outer.bytes, outer);
}

TEST_F(EarlierStateTest, StateWhoseDataIsWrongIsNotGoneBackTo) {
  Blob bytes = second_.bytes;
  flip_bit(bytes, second_.entry("b").data_offset + 5);
  expect_recovered_by_force(bytes, first_, "the data has CRC-32");
  bytes = third_.bytes;
  flip_bit(bytes, third_.entry(model_entry).data_offset);
  expect_recovered_by_force(bytes, second_, "the data has CRC-32");
}

TEST_F(EarlierStateTest, ADamagedWeightOfTheFirstStateIsNotCalledWhole) {
  Blob bytes = first_.bytes;
  flip_bit(bytes, first_.entry("w").data_offset);
  expect_unrecoverable(bytes);
}

TEST_F(EarlierStateTest, DataOfEarlierStatesIsNotRead) {
  Blob bytes = third_.bytes;
  flip_bit(bytes, third_.entry("w").data_offset);
  const Blob damaged = bytes;
  bytes.push_back(std::byte{0});
  start_with(bytes);
  EXPECT_EQ(recover(path_, unsynced).size, third_.bytes.size());
  EXPECT_EQ(now(), damaged);
}

/// So many states, of which each has a model of the wrong CRC.
Blob damaged_states(std::size_t count) {
  Built built = smallest_archive();
  std::vector<std::size_t> models = {built.entry(model_entry).data_offset};
  while (models.size() < count) {
    built = edited(built, "next");
    models.push_back(built.entries.back().data_offset);
  }
  for (const std::size_t model : models) flip_bit(built.bytes, model);
  return built.bytes;
}

TEST_F(EarlierStateTest, DamageOfTheFirstEntryIsNamed) {
  Blob bytes = first_.bytes;
  flip_bit(bytes, first_.entry("w").data_offset);
  start_with(bytes);
  const Error error = error_of([&] { recover(path_, unsynced); });
  EXPECT_EQ(error.code(), Code::archive_unrecoverable);
  EXPECT_THAT(error.what(), HasSubstr("the last state is damaged: entry \"w\" at 0x40"));
}

// Each try once walked through all states before its own: hours for a file of some megabytes.
TEST_F(EarlierStateTest, DamagedStatesCostLinearTime) {
  const auto work = [this](std::size_t states) {
    start_with(damaged_states(states));
    const std::size_t before = allocations_so_far();
    EXPECT_EQ(code_of([&] { return recover(path_, unsynced).size; }), Code::archive_unrecoverable);
    return allocations_so_far() - before;
  };
  const std::size_t few = work(50), many = work(200);
  EXPECT_LT(many, 5 * few) << "four times the states";
}

TEST_F(EarlierStateTest, AStateThatBuildsOnABrokenOneIsNotGoneBackTo) {
  Blob bytes = third_.bytes;
  put_u32(bytes, second_.end_offset + 12, 1);  // the size of its directory
  expect_recovered_by_force(bytes, first_, "after the data belong to no entry");
}

TEST_F(EarlierStateTest, NoFlippedBitLosesCompleteEdits) {
  for (std::size_t at = 0; at < third_.end_offset; ++at) {
    Blob bytes = third_.bytes;
    flip_bit(bytes, at);
    start_with(bytes);
    const auto error = error_if_any([&] { recover(path_, unsynced); });
    ASSERT_TRUE(!error || error->code() == Code::archive_unrecoverable) << at;
    ASSERT_EQ(now(), bytes) << at;
  }
}

TEST_F(EarlierStateTest, InterruptedEditHidesNoDamage) {
  // Each time an edit of the third state was interrupted, and the second state is what has to be decided about.
  Blob torn = third_.bytes;
  truncate(torn, torn.size() - 1);
  Blob bytes = torn;
  flip_bit(bytes, second_.entry("b").data_offset);
  expect_recovered_by_force(bytes, first_, "the data has CRC-32");
  bytes = torn;
  flip_bit(bytes, second_.entry("b").header_offset);  // the walk from the front ends here
  expect_recovered_by_force(bytes, first_, "local");
}

TEST_F(EarlierStateTest, DryRunCutsNothing) {
  Blob cut = third_.bytes;
  truncate(cut, cut.size() - 1);
  start_with(cut);
  const EarlierState state = recover(path_, {.sync = false, .dry_run = true});
  EXPECT_EQ(state.size, second_.bytes.size());
  EXPECT_EQ(state.file_size, cut.size());
  EXPECT_EQ(state.entries, 3U);
  EXPECT_EQ(state.model_size, second_.entries.back().data_size);
  EXPECT_EQ(state.model_crc32, bitwise_crc32(smallest_model(256, "second")));
  EXPECT_EQ(now(), cut);
  start_with(third_.bytes);
  EXPECT_EQ(undo(path_, {.sync = false, .dry_run = true}).size, second_.bytes.size());
  EXPECT_EQ(now(), third_.bytes);
}

// --- Undone ----------------------------------------------------------------------------------------------------------

TEST_F(EarlierStateTest, UndoVerifiesNoWeight) {
  Blob damaged = third_.bytes;
  flip_bit(damaged, third_.entry("w").data_offset);
  start_with(damaged);
  EXPECT_EQ(undo(path_, unsynced).size, second_.bytes.size());
}

TEST_F(EarlierStateTest, EditsAreUndoneOneByOne) {
  start_with(third_.bytes);
  const EarlierState state = undo(path_);
  EXPECT_EQ(state.file_size, third_.bytes.size());
  EXPECT_EQ(state.size, second_.bytes.size());
  EXPECT_EQ(now(), second_.bytes);
  EXPECT_EQ(undo(path_).size, first_.bytes.size());
  EXPECT_EQ(now(), first_.bytes);
  EXPECT_EQ(code_of([&] { return undo(path_).size; }), Code::usage_nothing_to_undo);
  EXPECT_EQ(now(), first_.bytes);
}

TEST_F(EarlierStateTest, TornEditIsNotUndone) {
  Blob cut = third_.bytes;
  truncate(cut, cut.size() - 1);
  expect_not_undone(cut, Code::archive_torn);
}

TEST_F(EarlierStateTest, DamagedStateIsNotGoneBackTo) {
  for (const std::size_t damage : {first_.entry(model_entry).data_offset, first_.entry(model_entry).header_offset + 6,
                                   first_.directory_offset + 20}) {
    Blob bytes = second_.bytes;
    flip_bit(bytes, damage);
    SCOPED_TRACE(damage);
    expect_not_undone(bytes, Code::archive_unrecoverable);
  }
}

TEST_F(EarlierStateTest, UndoNamesDamageOfStateBefore) {
  // The old model and all after it: only the directory that the edit replaced says that there was an edit.
  for (std::size_t at = first_.entry(model_entry).header_offset; at < first_.bytes.size(); ++at) {
    Blob bytes = second_.bytes;
    flip_bit(bytes, at);
    start_with(bytes);
    const auto error = error_if_any([&] { undo(path_, unsynced); });
    if (!error) continue;  // a byte that no rule covers, such as a time
    ASSERT_NE(error->code(), Code::usage_nothing_to_undo) << at;
    ASSERT_EQ(now(), bytes) << at;
    if (error->code() != Code::archive_unrecoverable) continue;  // the archive cannot be opened
    ASSERT_TRUE(error->offset()) << at;
    if (!error_of_opening()) {
      ASSERT_EQ(error->offset(), first_.bytes.size()) << at;
    }
    ASSERT_EQ(error->advice().hint, Hint::repack_keeps);
  }
}

TEST_F(EarlierStateTest, RefusesWhileAnotherProcessEdits) {
  start_with(third_.bytes);
  const os::File other = base::open_file(path_, os::Access::read);
  ASSERT_EQ(os::try_lock(other, os::Lock::shared), os::Locking::done);
  EXPECT_EQ(code_of([&] { return recover(path_).size; }), Code::archive_busy);
  EXPECT_EQ(code_of([&] { return undo(path_).size; }), Code::archive_busy);
  EXPECT_EQ(now(), third_.bytes);
}

}  // namespace
}  // namespace onnxar::testing
