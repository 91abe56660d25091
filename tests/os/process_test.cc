// The running process: its threads, and libraries that it loads by name alone.
#include "os/process.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>

#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

TEST(CurrentThread, EachHasItsOwnNumber) {
  const std::uintptr_t ours = os::current_thread();
  EXPECT_NE(ours, 0U);
  EXPECT_EQ(os::current_thread(), ours);
  std::uintptr_t other = ours;
  std::thread([&other] { other = os::current_thread(); }).join();
  EXPECT_NE(other, ours);
}

TEST(LoadLibrary, MissingLibraryIsNullWithAReason) {
  std::string why;
  EXPECT_EQ(os::load_library("onnxar_that_nobody_has", 1, why), nullptr);
  EXPECT_FALSE(why.empty());
}

TEST(ProgramsWith, ListsNoneForAFileThatIsNotOpen) {
  const TempDir folder;
  EXPECT_TRUE(os::programs_with(folder.write_file("a", "text")).empty());
}

}  // namespace
}  // namespace onnxar::testing
