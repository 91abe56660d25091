// What the C interface does when memory runs out. The operators of this program serve the library as well.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>

#include "onnxar/onnxar_c.h"
#include "support/temp_dir.h"

namespace {

thread_local int allocations_left = -1;  // negative: any number

}  // namespace

// Never inlined: where GCC sees into one of a pair only, it takes the two for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* place = allocations_left == 0 ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (place == nullptr) throw std::bad_alloc();
  if (allocations_left > 0) --allocations_left;
  return place;
}
[[gnu::noinline]] void operator delete(void* place) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete(void* place, std::size_t /*size*/) noexcept { std::free(place); }

namespace onnxar::testing {
namespace {

constexpr std::string_view model_bytes("\x3a\x00", 2);  // an empty graph

/// Calls `action` with memory for 0, 1, 2, ... allocations, until it is enough. `after` is called after each failure.
template <typename Action, typename After>
onnxar_status with_more_and_more_memory(const Action& action, const After& after) {
  for (int count = 0;; ++count) {
    onnxar_error* error = nullptr;
    allocations_left = count;
    const onnxar_status status = action(&error);
    allocations_left = -1;
    EXPECT_EQ(onnxar_error_status(error), status);
    onnxar_error_free(error);
    if (status != ONNXAR_MEMORY) return status;
    after();
  }
}

onnxar_status write_archive(const char* path, onnxar_error** error) {
  onnxar_writer_options options = {};
  options.struct_size = sizeof options;
  options.overwrite = options.no_sync = 1;
  options.threads = 1;
  onnxar_writer* writer = nullptr;
  onnxar_status status = onnxar_create(ONNXAR_C_ABI, path, &options, &writer, error);
  if (status == ONNXAR_OK) status = onnxar_add(writer, "a", 1, "1234", 4, error);
  if (status == ONNXAR_OK) status = onnxar_finish(writer, model_bytes.data(), model_bytes.size(), error);
  onnxar_writer_free(writer);
  return status;
}

TEST(WithoutMemory, TheProcessGoesOnAndTheOldOutputStays) {
  const TempDir folder;
  const std::string path = folder.write_file("a.onnxar", "old").string();
  const auto write = [&](onnxar_error** error) { return write_archive(path.c_str(), error); };
  EXPECT_EQ(with_more_and_more_memory(write, [&] { EXPECT_EQ(folder.read_text("a.onnxar"), "old"); }), ONNXAR_OK);
}

TEST(WithoutMemory, AnUndoThatFailsHasNotBeenDone) {
  const TempDir folder;
  const std::string path = (folder / "a.onnxar").string();
  const std::string note = folder.write_file("note", "1").string();
  ASSERT_EQ(write_archive(path.c_str(), nullptr), ONNXAR_OK);
  const onnxar_added_file added = {"note.txt", note.c_str()};
  onnxar_options options = {};
  options.struct_size = sizeof options;
  options.add = &added;
  options.add_count = 1;
  ASSERT_EQ(onnxar_replace(ONNXAR_C_ABI, path.c_str(), nullptr, &options, nullptr, nullptr), ONNXAR_OK);
  const std::string edited = folder.read_text("a.onnxar");
  onnxar_report* report = nullptr;
  const auto undo = [&](onnxar_error** error) {
    return onnxar_undo(ONNXAR_C_ABI, path.c_str(), nullptr, &report, error);
  };
  EXPECT_EQ(with_more_and_more_memory(undo, [&] { EXPECT_EQ(folder.read_text("a.onnxar"), edited); }), ONNXAR_OK);
  onnxar_report_free(report);
}

TEST(WithoutMemory, TheStatusIsThatOfTheError) {
  const TempDir folder;
  const std::string path = folder.write_file("a.onnxar", "not an archive").string();
  onnxar_archive* archive = nullptr;
  const auto open = [&](onnxar_error** error) {
    return onnxar_open_path(ONNXAR_C_ABI, path.c_str(), nullptr, &archive, error);
  };
  EXPECT_EQ(with_more_and_more_memory(open, [] {}), ONNXAR_FORMAT);
}

}  // namespace
}  // namespace onnxar::testing
