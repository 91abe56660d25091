#include "os/process.h"

#include <pthread.h>

#include <bit>
#include <ctime>

namespace onnxar::os {

void pause(std::uint32_t milliseconds) noexcept {
  const timespec time{static_cast<std::time_t>(milliseconds / 1000),
                      static_cast<long>(milliseconds % 1000) * 1'000'000};
  ::nanosleep(&time, nullptr);
}

// An integer on some systems, a pointer on others.
std::uintptr_t current_thread() noexcept { return std::bit_cast<std::uintptr_t>(::pthread_self()); }

std::vector<std::string> programs_with(const std::filesystem::path& /*file*/) { return {}; }

}  // namespace onnxar::os
