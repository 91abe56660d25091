// A test of edits has an archive, edits it in place, and compares its file.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "archive/front_end.h"
#include "onnxar/archive_writer.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {

inline const Blob& new_model() {
  static const Blob model = smallest_model(256, "edited");
  return model;
}

inline Built model_alone() {
  ZipBuilder builder = smallest_builder();
  builder.entries.erase(builder.entries.begin());
  return builder.build_placed();
}

class EditTest : public ::testing::Test {
 protected:
  void SetUp() override { start_with(smallest_archive()); }

  void start_with(Built built) {
    before_ = std::move(built);
    path_ = folder_.write_file("a", before_.bytes);
  }
  [[nodiscard]] ArchiveEditor editor(const EditOptions& options = {.output = {.sync = false}}) const {
    return ArchiveEditor::open(path_, options);
  }
  [[nodiscard]] Blob now() const { return folder_.read_file("a"); }
  void expect_unchanged() const {
    EXPECT_EQ(now(), before_.bytes);
    EXPECT_EQ(folder_.file_names(), std::vector<std::string>{"a"});
  }
  /// What the action is refused for; the editor is gone then, and the file as it was.
  template <typename Action>
  std::optional<ErrorContext> refusal(const Action& action) {
    const auto refused = refusal_of([&] {
      ArchiveEditor open = editor();
      action(open);
    });
    expect_unchanged();
    return refused;
  }

  TempDir folder_;
  std::filesystem::path path_;
  Built before_;
};

}  // namespace onnxar::testing
