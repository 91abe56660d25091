// Limits of entries, directory and model hold for what an edit would write.
#include <gtest/gtest.h>

#include <cstdint>

#include "archive/editing.h"

namespace onnxar::testing {
namespace {

TEST_F(EditTest, AnEditThatReadersWouldRefuseIsNotCommitted) {
  const auto expect_not_committed = [&](const OpenOptions& limits, Code code) {
    const auto error = error_if_any([&] {
      ArchiveEditor open = editor({.output = {.sync = false}, .open = limits});
      open.add("b", Bytes());
      open.commit(new_model());
    });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), code);
    EXPECT_EQ(error->path(), path_);
    EXPECT_GT(error->offset(), before_.bytes.size()) << "the place of the new directory";
    expect_unchanged();
  };
  expect_not_committed({.max_entries = 2}, Code::zip_limit_entries);
  expect_not_committed({.max_directory_size = before_.directory_size + 30}, Code::zip_limit_directory);
}

TEST_F(EditTest, LimitsHoldForRewrittenArchive) {
  start_with(model_alone());
  const auto code = code_of([&] {
    ArchiveEditor open = editor({.output = {.sync = false}, .open = {.max_entries = 2}});
    open.add("b", Bytes());
    open.add("c", Bytes());
    open.commit(smallest_model(0));
  });
  EXPECT_EQ(code, Code::zip_limit_entries);
  expect_unchanged();
}

TEST_F(EditTest, ModelLimitHoldsForTheNewModel) {
  const std::uint64_t old_size = before_.data_of(model_entry).size();
  const EditOptions limited = {.output = {.sync = false}, .open = {.max_model_size = old_size}};
  const Blob longer = smallest_model(256, "a producer with a long name");
  EXPECT_EQ(code_of([&] { return editor(limited).size_with({}, longer.size()); }), Code::archive_model_too_large);
  EXPECT_EQ(code_of([&] { editor(limited).commit(longer); }), Code::archive_model_too_large);
  expect_unchanged();
  editor(limited).commit(smallest_model(256, "short"));
  EXPECT_NE(now(), before_.bytes);
}

TEST_F(EditTest, AnEditMayReachTheLimitsOfEntriesAndDirectory) {
  const OpenOptions limits = {.max_entries = 3, .max_directory_size = before_.directory_size + 46 + 1};
  ArchiveEditor edit = editor({.output = {.sync = false}, .open = limits});
  edit.add("b", Bytes());
  edit.commit(new_model());
  EXPECT_EQ(Archive::open(path_).size(), 3U);
}

TEST_F(EditTest, ModelOf2GiBIsRefusedBeforeAnythingIsWritten) {
  constexpr std::uint64_t too_large = 1ULL << 31U;
  EXPECT_EQ(code_of([&] { return editor().size_with({}, too_large); }), Code::archive_model_too_large);
  EXPECT_NO_THROW(static_cast<void>(editor().size_with({}, too_large - 1)));
}

}  // namespace
}  // namespace onnxar::testing
