// Numbers of errors of POSIX systems.
#include <gtest/gtest.h>

#include <cerrno>
#include <utility>

#include "os/error.h"
#include "os/posix/native.h"

namespace onnxar::testing {
namespace {

using os::Reason;

TEST(PosixReason, MapsEachNumberThatCallersDistinguish) {
  const std::pair<int, Reason> reasons[] = {
      {0, Reason::none},
      {ENOENT, Reason::not_found},
      {ENOTDIR, Reason::not_found},
      {EEXIST, Reason::exists},
      {EACCES, Reason::permission},
      {EPERM, Reason::permission},
      {EROFS, Reason::permission},
      {ENOSPC, Reason::disk_full},
      {EDQUOT, Reason::disk_full},
      {EISDIR, Reason::is_folder},
      {EXDEV, Reason::outside},
      {ELOOP, Reason::too_many_links},
      {EFBIG, Reason::too_large},
      {EFAULT, Reason::unreadable_bytes},
      {ENOSYS, Reason::unsupported},
      {EOPNOTSUPP, Reason::unsupported},
      {EIO, Reason::other},
  };
  for (const auto& [number, reason] : reasons) {
    EXPECT_EQ(os::reason_of(os::error_of(number)), reason) << number;
  }
}

}  // namespace
}  // namespace onnxar::testing
