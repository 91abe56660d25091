// A test of stored models has an archive and a folder, and writes what ONNX Runtime would.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "archive/front_end.h"
#include "onnxar/archive.h"
#include "onnxar/stored_model.h"
#include "support/refusal.h"
#include "support/samples.h"

namespace onnxar::testing {

/// A model from `x` to `y`.
inline Message with_ends(const Messages& initializers, const Messages& inputs = {value_info("x", dtype::float32, {1})},
                         std::int64_t version = 8) {
  return model(
      {.ir_version = version,
       .graph =
           graph({.initializers = initializers, .inputs = inputs, .outputs = {value_info("y", dtype::float32, {1})}})});
}

class StoredModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_ / "cache");
    write_archive(1);
  }
  void write_archive(std::uint32_t seed) {
    const Built built = archive_of(with_ends({linked_floats("w", 300, "w")}), {zip_entry("w", pattern(1200, seed))});
    folder_.write_file("x.onnxar", built.bytes);
  }
  /// Writes what ONNX Runtime would: a model and the file of its data.
  static void write(const std::filesystem::path& output, const Message& optimised, const Blob& data) {
    const auto put = [&](const std::filesystem::path& path, const Blob& bytes) {
      write_file(path, bytes, {.sync = false});
    };
    put(output, optimised.view());
    if (!data.empty()) put(output.parent_path() / "data", data);
  }
  [[nodiscard]] StoredModel opened() const { return StoredModel::open(file_, key_); }
  [[nodiscard]] bool is_stored() const { return opened().is_stored(); }
  StoredModel stored(const Message& optimised, const Blob& data) const {
    StoredModel model = opened();
    write(model.prepare(), optimised, data);
    model.store();
    return model;
  }
  StoredModel stored() const { return stored(optimised_, data_); }
  std::optional<Error> refusal(const Message& optimised, const Blob& data) const {
    StoredModel model = opened();
    write(model.prepare(), optimised, data);
    return error_if_any([&] { model.store(); });
  }
  static std::vector<Blob> entries_of(const Blob& bytes) {
    const Archive archive = Archive::open(bytes, nullptr);
    std::vector<Blob> found;
    for (const ArchiveEntry& entry : archive.entries()) found.push_back(copy_of(archive.bytes(entry)));
    return found;
  }
  /// Changes the file, and its time, since a clock may stand still during a test.
  void put(const Blob& bytes) const {
    const auto before = std::filesystem::last_write_time(file_);
    write_file(file_, bytes, {.overwrite = true, .sync = false});
    std::filesystem::last_write_time(file_, before + std::chrono::seconds(2));
  }

  TempDir folder_;
  std::filesystem::path file_ = folder_ / "cache/stored";
  StoredModel::Key key_{folder_ / "x.onnxar", "", "1.23 of today", "level 1"};
  Blob data_ = pattern(1600, 7);
  Message optimised_ = with_ends({linked_floats("w", 300, "data", 400).external_data("prepacked_0", "MatMul|0;400;9")});
};

/// Before it is over, nothing is remembered of a file.
inline constexpr std::chrono::milliseconds after_a_tick(2100);

/// A stored model in folders that only its user can change.
class OwnStoredModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "a/b");
    folder_.write_file("x.onnxar", archive_of(model_of({floats("w", 2)})).bytes);
    StoredModel model = opened();
    write_file(model.prepare(), model_of({floats("w", 2)}).view());
    model.store();
  }
  [[nodiscard]] StoredModel opened() const { return StoredModel::open(file_, {folder_ / "x.onnxar"}); }
  [[nodiscard]] std::optional<Code> refusal() const {
    return code_of([&] { return opened().prepare(); });
  }
  [[nodiscard]] StoredModel stored_anew() const {
    std::filesystem::remove(file_);
    StoredModel model = opened();
    write_file(model.prepare(), model_of({floats("w", 2)}).view());
    model.store();
    return model;
  }
  void expect_refused(const std::filesystem::path& path, std::filesystem::perms more) const {
    ASSERT_TRUE(opened().is_stored());
    std::filesystem::permissions(path, more, std::filesystem::perm_options::add);
    StoredModel model = opened();
    EXPECT_FALSE(model.is_stored()) << path;
    expect_error(error_if_any([&] { return model.prepare(); }),
                 {.code = Code::io_permission, .path = std::filesystem::canonical(path)});
    std::filesystem::permissions(path, more, std::filesystem::perm_options::remove);
  }

  TempDir folder_;
  std::filesystem::path file_ = folder_ / "a/b/stored";
};

}  // namespace onnxar::testing
