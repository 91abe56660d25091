// How a process knows that it is the child of a fork.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>

#include "os/process.h"

namespace onnxar::testing {
namespace {

TEST(CountOfForks, GrowsInTheChildOnly) {
  const std::size_t before = os::count_of_forks();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(os::count_of_forks() == before + 1 ? 0 : 1);
  ASSERT_GT(child, 0);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(os::count_of_forks(), before);
}

}  // namespace
}  // namespace onnxar::testing
