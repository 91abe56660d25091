// Logs pwritev, fsync and ftruncate by functions that replace those of the C library.
#include "support/system_calls.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <span>

namespace onnxar::testing {
namespace {

FileCallLog* log = nullptr;

/// Logs the call, and returns whether it may be made. Calls `describe` only if a log exists: it reads the written
/// bytes, which faults if a mapped file was cut, and tests check the kernel's error for that case.
template <typename Describe>
bool passes(const Describe& describe) {
  if (log == nullptr) return true;
  FileCall call = describe();
  if (const int reason = log->fail ? log->fail(call) : 0) {
    errno = reason;
    return false;
  }
  log->add(std::move(call));
  return true;
}

FileCall write_call(std::span<const iovec> parts, off_t offset) {
  FileCall call{FileCall::Kind::write, static_cast<std::uint64_t>(offset), {}};
  for (const iovec& part : parts) {
    const auto* begin = static_cast<const std::byte*>(part.iov_base);
    call.data.insert(call.data.end(), begin, begin + part.iov_len);
  }
  return call;
}

}  // namespace

FileCallLog::FileCallLog() { log = this; }
FileCallLog::~FileCallLog() { log = nullptr; }

}  // namespace onnxar::testing

// These replace the functions of the C library, whose parameter names are reserved.
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
extern "C" {

ssize_t pwritev(int file, const iovec* parts, int count, off_t offset) {
  const std::span all(parts, static_cast<std::size_t>(count));
  if (!onnxar::testing::passes([&] { return onnxar::testing::write_call(all, offset); })) return -1;
  // The kernel takes the offset in two halves.
  return ::syscall(SYS_pwritev, file, parts, count, offset, 0L);
}

int fsync(int file) {
  if (!onnxar::testing::passes([] { return onnxar::testing::FileCall{onnxar::testing::FileCall::Kind::sync, 0, {}}; }))
    return -1;
  return static_cast<int>(::syscall(SYS_fsync, file));
}

// As the C library declares it: glibc's does not throw, musl's says nothing.
int ftruncate(int file, off_t size) noexcept(noexcept(::ftruncate(file, size))) {
  if (!onnxar::testing::passes([size] {
        return onnxar::testing::FileCall{
            onnxar::testing::FileCall::Kind::set_size, static_cast<std::uint64_t>(size), {}};
      }))
    return -1;
  return static_cast<int>(::syscall(SYS_ftruncate, file, size));
}
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
