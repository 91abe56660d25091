// What mutation_test.py instruments: one function for each kind of site.
#pragma once

namespace sample {

constexpr unsigned limit = 10;
static_assert(limit < 11);  // a constant expression: no site

inline constexpr unsigned doubled(unsigned size) { return size * 2; }

bool fits(unsigned size);
unsigned larger(unsigned a, unsigned b);
unsigned checked(unsigned size);
unsigned never_called(unsigned size);
bool between(unsigned low, unsigned value, unsigned high);

}  // namespace sample
