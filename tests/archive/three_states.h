// An archive, edited twice, and going back from what became of it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "archive/opened.h"
#include "onnx/error_of.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {

/// Nothing is synced: no test cuts the power.
inline constexpr OutputOptions unsynced = {.sync = false, .dry_run = false};

class StatesTest : public ::testing::Test {
 protected:
  void start_with(const Blob& bytes) { path_ = folder_.write_file("a", bytes); }
  [[nodiscard]] Blob now() const { return folder_.read_file("a"); }
  [[nodiscard]] std::optional<Error> error_of_opening() const {
    return error_if_any([&] { return Archive::open(path_).size(); });
  }

  void expect_recovered(const Blob& bytes, const Built& state) {
    start_with(bytes);
    const EarlierState found = recover(path_, unsynced);
    EXPECT_EQ(found.file_size, bytes.size());
    EXPECT_EQ(found.size, state.bytes.size());
    EXPECT_EQ(now(), state.bytes);
    EXPECT_EQ(recover(path_, unsynced).size, state.bytes.size()) << "there is nothing left to cut";
    EXPECT_EQ(now(), state.bytes);
  }
  /// Expects that the state is restored by force only, since complete edits are lost; the error says why with `fault`.
  void expect_recovered_by_force(const Blob& bytes, const Built& state, const std::string& fault) {
    start_with(bytes);
    for (const OutputOptions& options : {unsynced, OutputOptions{.sync = false, .dry_run = true}}) {
      const Error error = error_of([&] { recover(path_, options); });
      EXPECT_EQ(error.code(), Code::archive_unrecoverable);
      EXPECT_EQ(error.advice().hint, Hint::recover_overwrite);
      EXPECT_EQ(error.offset(), state.bytes.size());
      EXPECT_THAT(error.what(), ::testing::HasSubstr(fault));
      EXPECT_EQ(now(), bytes);
    }
    EXPECT_EQ(recover(path_, {.overwrite = true, .sync = false, .dry_run = true}).size, state.bytes.size());
    EXPECT_EQ(now(), bytes);
    EXPECT_EQ(recover(path_, {.overwrite = true, .sync = false}).size, state.bytes.size());
    EXPECT_EQ(now(), state.bytes);
  }
  void expect_unrecoverable(const Blob& bytes) {
    start_with(bytes);
    EXPECT_EQ(code_of([&] { return recover(path_, unsynced).size; }), Code::archive_unrecoverable);
    EXPECT_EQ(now(), bytes);
  }
  void expect_not_undone(const Blob& bytes, Code code) {
    start_with(bytes);
    EXPECT_EQ(code_of([&] { return undo(path_, unsynced).size; }), code);
    EXPECT_EQ(now(), bytes);
  }

  TempDir folder_;
  std::filesystem::path path_;
  Built first_ = smallest_archive();
  Built second_ = edited(first_, "second", {zip_entry("b", pattern(700, 1))});
  Built third_ = edited(second_, "third");
};

}  // namespace onnxar::testing
