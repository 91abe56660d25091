// Runs other programs, by _spawnv.
#include "support/programs.h"

#include <process.h>

namespace onnxar::testing {

int run_program(const std::vector<std::string>& words) {
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  pointers.push_back(nullptr);
  return static_cast<int>(::_spawnv(_P_WAIT, pointers.front(), pointers.data()));
}

}  // namespace onnxar::testing
