// The functions that mutation_test.py instruments; checks_test.cc tests some of them.
#include "checks.h"

#include <stdexcept>

#define SAMPLE_IS_EVEN(value) ((value) % 2 == 0)

namespace sample {
namespace {

void check(unsigned size) {
  if (!fits(size)) throw std::length_error("larger than 10");
}

}  // namespace

bool fits(unsigned size) { return size <= limit; }

// Both are equal where `<` and `<=` differ, so no test can tell them apart.
unsigned larger(unsigned a, unsigned b) { return a < b ? b : a; }

unsigned checked(unsigned size) {
  static_assert(doubled(4) == 8);
  check(size);
  return SAMPLE_IS_EVEN(size) ? size : doubled(size);
}

unsigned never_called(unsigned size) { return size + 3; }

bool between(unsigned low, unsigned value, unsigned high) { return low <= value && value <= high; }

}  // namespace sample
