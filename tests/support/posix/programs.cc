// Runs other programs in a child process, by execv.
#include "support/programs.h"

#include "support/posix/child_process.h"

namespace onnxar::testing {

int run_program(const std::vector<std::string>& words) {
  return in_child([&words] {
    std::vector<char*> pointers;
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));  // as execv takes them
    pointers.push_back(nullptr);
    ::execv(pointers.front(), pointers.data());
    return child_threw;
  });
}

}  // namespace onnxar::testing
