// The lock of an edit, between processes: rule X5 of the specification, on every system.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "onnx/error_of.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "os/names.h"
#include "support/child.h"
#include "support/refusal.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;

constexpr EditOptions without_proof = {.output = {.sync = false}, .verify_model = false};

void set_environment(const std::string& name, const std::string& value) {
#ifdef _WIN32
  ::_putenv_s(name.c_str(), value.c_str());
#else
  ::setenv(name.c_str(), value.c_str(), 1);
#endif
}

/// An archive that this process makes, or, in a child that runs the test anew, that of the parent.
class SharedArchive {
 public:
  explicit SharedArchive(const std::string& variable) {
    const char* const given = std::getenv(variable.c_str());
    if (given != nullptr) {
      path_ = os::path_of(given);
      return;
    }
    path_ = folder_.write_file("a", smallest_archive().bytes);
    is_ours_ = true;
    set_environment(variable, os::text_of(path_));
  }
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] bool is_ours() const { return is_ours_; }

 private:
  TempDir folder_;
  fs::path path_;
  bool is_ours_ = false;
};

bool is_busy(const fs::path& path) {
  return code_of([&] {
           const ArchiveEditor editor = ArchiveEditor::open(path, without_proof);
           return editor.archive().size();
         }) == Code::archive_busy;
}

TEST(EditLock, NamesEditorOfThisProcess) {
  const TempDir folder;
  const fs::path path = folder.write_file("a.onnxar", smallest_archive().bytes);
  const ArchiveEditor editor = ArchiveEditor::open(path, without_proof);
  expect_error(error_of([&] { static_cast<void>(ArchiveEditor::open(path, without_proof)); }),
               {.code = Code::archive_busy, .says = {"by an editor of this one"}});
}

TEST(EditLock, KeepsEditsOfOtherProcessesOutAndReadersIn) {
  const SharedArchive shared("ONNXAR_TEST_EDIT_LOCK");
  std::optional<ArchiveEditor> held;
  if (shared.is_ours()) held.emplace(ArchiveEditor::open(shared.path(), without_proof));
  const auto child = [&] { return is_busy(shared.path()) && Archive::open(shared.path()).size() == 2 ? 7 : 1; };
  ONNXAR_EXPECT_IN_CHILD(child, 7);
}

TEST(EditLock, KeepsUndoAndRecoverOfOtherProcessesOut) {
  const SharedArchive shared("ONNXAR_TEST_CUT_LOCK");
  std::optional<ArchiveEditor> held;
  if (shared.is_ours()) held.emplace(ArchiveEditor::open(shared.path(), without_proof));
  const auto child = [&] {
    const auto undone = code_of([&] { return undo(shared.path(), {}).size; });
    const auto recovered = code_of([&] { return recover(shared.path(), {}).size; });
    return undone == Code::archive_busy && recovered == Code::archive_busy ? 7 : 1;
  };
  ONNXAR_EXPECT_IN_CHILD(child, 7);
}

TEST(EditLock, ReadersOfOtherProcessesSeeArchiveAsBusy) {
  const SharedArchive shared("ONNXAR_TEST_READER_LOCK");
  std::optional<ArchiveEditor> held;
  if (shared.is_ours()) {
    held.emplace(ArchiveEditor::open(shared.path(), without_proof));
    held->add("b", pattern(2U << 20U));  // more than is kept in memory
  }
  const auto child = [&] {
    return code_of([&] { return Archive::open(shared.path()).size(); }) == Code::archive_busy ? 7 : 1;
  };
  ONNXAR_EXPECT_IN_CHILD(child, 7);
}

TEST(EditLock, IsFreeForOtherProcessesAfterTheEdit) {
  const SharedArchive shared("ONNXAR_TEST_FREE_LOCK");
  if (shared.is_ours()) ArchiveEditor::open(shared.path(), without_proof).commit(smallest_model(256, "edited"));
  ONNXAR_EXPECT_IN_CHILD([&] { return is_busy(shared.path()) ? 1 : 7; }, 7);
}

TEST(EditLock, EndsWithTheProcessThatHoldsIt) {
  const SharedArchive shared("ONNXAR_TEST_DEAD_LOCK");
  const auto child = [&] {
    const ArchiveEditor held = ArchiveEditor::open(shared.path(), without_proof);
    std::_Exit(7);
    return 1;
  };
  ONNXAR_EXPECT_IN_CHILD(child, 7);
  EXPECT_FALSE(is_busy(shared.path()));
}

}  // namespace
}  // namespace onnxar::testing
