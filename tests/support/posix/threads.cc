// Counts the threads of this process in /proc/self/task.
#include "support/threads.h"

#include <filesystem>
#include <iterator>

namespace onnxar::testing {

namespace fs = std::filesystem;

std::size_t thread_count() {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator()));
}

}  // namespace onnxar::testing
