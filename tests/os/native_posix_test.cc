// Which links are followed in folders that others can write to.
#include <gtest/gtest.h>

#include <cstdint>

#include "os/posix/native.h"

namespace onnxar::testing {
namespace {

// We trust our own links and those of the folder's owner.
TEST(LinkTrust, FollowsOnlyTrustedLinksInWorldWritableFolder) {
  constexpr std::uint32_t sticky = 01777, ours = 1000, owner = 2000, stranger = 3000;
  EXPECT_TRUE(os::is_trusted_link(sticky, owner, ours, ours));
  EXPECT_TRUE(os::is_trusted_link(sticky, owner, owner, ours));
  EXPECT_FALSE(os::is_trusted_link(sticky, owner, stranger, ours));
  EXPECT_FALSE(os::is_trusted_link(sticky, owner, stranger, 0));
  EXPECT_TRUE(os::is_trusted_link(0777, owner, stranger, ours));
  EXPECT_TRUE(os::is_trusted_link(01775, owner, stranger, ours));
}

}  // namespace
}  // namespace onnxar::testing
