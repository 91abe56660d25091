// Models as ONNX Runtime stored them. Here the test writes what it would; tests/interop/readers has the real one.
#include "onnxar/stored_model.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "archive/front_end.h"
#include "onnxar/archive.h"
#include "onnxar/link.h"
#include "runtime/storing.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

TEST_F(StoredModelTest, IsFirstTheArchiveThenWhatWasStored) {
  StoredModel first = opened();
  EXPECT_FALSE(first.is_stored());
  EXPECT_EQ(first.link().model, make_link(key_.archive, {}, LinkForm::unmarked).model);
  const fs::path output = first.prepare();
  EXPECT_EQ(output.parent_path().parent_path(), folder_ / "cache");
  write(output, optimised_, data_);
  EXPECT_FALSE(is_stored());
  first.store();
  EXPECT_TRUE(first.is_stored());
  EXPECT_EQ(first.link().archive, "stored");
  EXPECT_EQ(first.link().folder, fs::canonical(folder_ / "cache"));
  const StoredModel second = opened();
  EXPECT_TRUE(second.is_stored());
  EXPECT_EQ(second.link().model, first.link().model);
  EXPECT_NE(second.link().model, make_link(key_.archive, {}, LinkForm::unmarked).model);
  second.verify();
}

TEST_F(StoredModelTest, ANewOneReplacesTheOneOfAnotherKey) {
  stored();
  key_.settings = "level 2";
  EXPECT_TRUE(stored(with_ends({floats("w", 2)}), {}).is_stored());
  EXPECT_TRUE(is_stored());
  key_.settings = "level 1";
  EXPECT_FALSE(is_stored());
}

TEST_F(StoredModelTest, DamagedArchiveIsAnError) {
  Blob bytes = folder_.read_file("x.onnxar");
  const Built built = archive_of(with_ends({linked_floats("w", 300, "w")}), {zip_entry("w", pattern(1200, 1))});
  bytes[built.entry("w").data_offset + 100] ^= std::byte{1};
  folder_.write_file("x.onnxar", bytes);
  EXPECT_EQ(code_of([&] { return is_stored(); }), Code::zip_data_crc);
  fs::remove(key_.archive);
  EXPECT_EQ(code_of([&] { return is_stored(); }), Code::io_not_found);
}

TEST_F(StoredModelTest, ArchiveThatChangesIsNotStored) {
  StoredModel model = opened();
  write(model.prepare(), optimised_, data_);
  write_archive(2);
  fs::last_write_time(key_.archive, fs::last_write_time(key_.archive) + std::chrono::seconds(2));
  EXPECT_EQ(code_of([&] { model.store(); }), Code::io_changed);
  EXPECT_FALSE(model.is_stored());
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(StoredModelTest, FileThatIsReplacedWhileASessionIsMadeIsFound) {
  const StoredModel model = stored();
  model.verify();
  put(read_file(file_));
  EXPECT_EQ(code_of([&] { model.verify(); }), Code::io_changed);
  fs::remove(file_);
  EXPECT_EQ(code_of([&] { model.verify(); }), Code::io_changed);
}

TEST_F(StoredModelTest, StoreNeedsPrepare) {
  StoredModel model = opened();
  EXPECT_EQ(code_of([&] { model.store(); }), Code::usage_argument);
  model = stored();
  EXPECT_EQ(code_of([&] { model.store(); }), Code::usage_argument);
  EXPECT_EQ(code_of([&] { return model.prepare(); }), Code::usage_argument);
}

}  // namespace
}  // namespace onnxar::testing
