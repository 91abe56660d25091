// Numbers of errors of Windows.
#include <gtest/gtest.h>

#include <utility>

#include "os/error.h"
#include "os/windows/native.h"

namespace onnxar::os {
namespace {

TEST(WindowsReason, MapsEachNumberThatCallersDistinguish) {
  const std::pair<DWORD, Reason> reasons[] = {
      {NO_ERROR, Reason::none},
      {ERROR_FILE_NOT_FOUND, Reason::not_found},
      {ERROR_PATH_NOT_FOUND, Reason::not_found},
      {ERROR_ALREADY_EXISTS, Reason::exists},
      {ERROR_FILE_EXISTS, Reason::exists},
      {ERROR_ACCESS_DENIED, Reason::permission},
      {ERROR_SHARING_VIOLATION, Reason::permission},
      {ERROR_DISK_FULL, Reason::disk_full},
      {ERROR_NOT_SAME_DEVICE, Reason::outside},
      {ERROR_INVALID_NAME, Reason::bad_name},
      {ERROR_FILENAME_EXCED_RANGE, Reason::bad_name},
      {ERROR_USER_MAPPED_FILE, Reason::mapped},
      {ERROR_FILE_TOO_LARGE, Reason::too_large},
      {ERROR_NOACCESS, Reason::unreadable_bytes},
      {ERROR_NOT_SUPPORTED, Reason::unsupported},
      {ERROR_IO_DEVICE, Reason::other},
  };
  for (const auto& [number, reason] : reasons) EXPECT_EQ(reason_of(error_of(number)), reason) << number;
}

}  // namespace
}  // namespace onnxar::os
