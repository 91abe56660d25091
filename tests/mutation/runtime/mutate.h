// Included before every unit of the build for mutation testing: sites in instrumented sources ask `on` whether they are
// the mutant of this process.
#pragma once

#include <type_traits>

namespace onnxar::mutate {

extern int selected;         // environment variable ONNXAR_MUTANT; -1: none
extern unsigned char* seen;  // one byte for each site that was executed; null if nothing is recorded

/// A constant expression cannot depend on the environment, so there every site is off.
constexpr bool on(int site) noexcept {
  if (std::is_constant_evaluated()) return false;
  if (seen != nullptr) seen[site] = 1;
  return selected == site;
}

}  // namespace onnxar::mutate
