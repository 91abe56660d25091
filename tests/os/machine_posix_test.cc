// Variables, and whom the system lets change a file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "os/machine.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

TEST(Variables, HaveThePrefixAndAreSorted) {
  ASSERT_EQ(::setenv("ONNXAR_OF_A_TEST_B", "2", 1), 0);
  ASSERT_EQ(::setenv("ONNXAR_OF_A_TEST_A", "1=x", 1), 0);
  EXPECT_THAT(os::variables("ONNXAR_OF_A_TEST"),
              ::testing::ElementsAre("ONNXAR_OF_A_TEST_A=1=x", "ONNXAR_OF_A_TEST_B=2"));
  ASSERT_EQ(::unsetenv("ONNXAR_OF_A_TEST_A"), 0);
  ASSERT_EQ(::unsetenv("ONNXAR_OF_A_TEST_B"), 0);
}

TEST(OthersMayChange, WhatTheyCanWriteTo) {
  using std::filesystem::perms;
  const TempDir folder;
  std::error_code failed;
  const auto is_shared = [&](perms mode, os::Sticky sticky) {
    std::filesystem::permissions(folder.path(), mode);
    const bool shared = os::others_may_change(folder.path(), sticky, failed);
    EXPECT_FALSE(failed);
    return shared;
  };
  for (const os::Sticky sticky : {os::Sticky::refuse, os::Sticky::accept}) {
    EXPECT_FALSE(is_shared(perms::owner_all, sticky));
    EXPECT_FALSE(is_shared(perms(0755), sticky));
    EXPECT_TRUE(is_shared(perms(0775), sticky));
    EXPECT_TRUE(is_shared(perms(0757), sticky));
    EXPECT_EQ(is_shared(perms(01777), sticky), sticky == os::Sticky::refuse);
  }
  EXPECT_TRUE(os::others_may_change(folder / "none", os::Sticky::accept, failed));
  EXPECT_EQ(failed, std::errc::no_such_file_or_directory);
}

}  // namespace
}  // namespace onnxar::testing
