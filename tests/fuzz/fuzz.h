// What every fuzz target shares. A target is one file that defines `run`; it knows no driver. With entry.cc and
// libFuzzer it is a fuzzer (preset `fuzz`), with replay_main.cc a test that runs seeds and findings again.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <type_traits>

#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar::fuzz {

/// One input. Ends the process, or throws, where something does not hold that must. The driver gives the input in a
/// buffer of exactly its size, so that reading beyond it is a fault.
void run(Bytes input);

/// Ends the process, also in a release build, where `holds` is false.
inline void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what.c_str());
  std::abort();
}

/// What `work` returns; nothing where it refuses its input. Any error but one of format goes through: no input may
/// look like a misuse or a fault of the machine.
template <typename Work>
auto accepted(const Work& work) -> std::optional<std::invoke_result_t<Work>> {
  try {
    return work();
  } catch (const Error& error) {
    if (kind(error.code()) != Kind::format) throw;
    return std::nullopt;
  }
}

/// The same for what must be accepted: `what` names the reason.
template <typename Work>
auto must(const std::string& what, const Work& work) -> std::invoke_result_t<Work> {
  try {
    return work();
  } catch (const Error& error) {
    require(false, what + ": " + error.what());
    throw;
  }
}

}  // namespace onnxar::fuzz
