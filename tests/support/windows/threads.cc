// Counts the threads of this process in a snapshot of the system's.
#include "support/threads.h"

#include "os/windows/native.h"
// After it.
#include <tlhelp32.h>

namespace onnxar::testing {

// The system lists the threads of all processes.
std::size_t thread_count() {
  const HANDLE list = ::CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
  THREADENTRY32 thread{};
  thread.dwSize = sizeof(thread);
  std::size_t count = 0;
  for (BOOL more = ::Thread32First(list, &thread); more != 0; more = ::Thread32Next(list, &thread)) {
    count += thread.th32OwnerProcessID == ::GetCurrentProcessId() ? 1U : 0U;
  }
  ::CloseHandle(list);
  return count;
}

}  // namespace onnxar::testing
