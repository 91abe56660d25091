// Helpers of every fuzz target. A target is one file that defines `run` in a namespace of its own, `NAME_target`, and
// does not depend on the driver. With entry.cc and libFuzzer it is a fuzzer (preset `fuzz`). All with replay_main.cc
// are one program, which replays seeds and findings.
//
// `run` tests one input. It ends the process or throws if a condition does not hold. The driver passes the input in a
// buffer of exactly its size, so that reading beyond it is a fault.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "fuzz/targets.h"  // made by CMake: declares `run` of every target
#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar::fuzz {

/// Ends the process if `holds` is false, also in release builds.
inline void require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

/// Returns the result of `work`; nothing if it refuses its input. Errors that are not of the format pass through,
/// because no input may look like a misuse or a fault of the machine.
template <typename Work>
auto accepted(const Work& work) -> std::optional<std::invoke_result_t<Work>> {
  try {
    return work();
  } catch (const Error& error) {
    if (kind(error.code()) != Kind::format) throw;
    return std::nullopt;
  }
}

/// As above, for work that must succeed. `what` names the reason.
template <typename Work>
auto must(std::string_view what, const Work& work) -> std::invoke_result_t<Work> {
  try {
    return work();
  } catch (const Error& error) {
    require(false, std::string(what) + ": " + error.what());
    throw;
  }
}

/// Whether these bytes are a view of others. No bytes are a view of any.
inline bool lies_in(Bytes part, Bytes whole) {
  return part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

/// Whether a fuzzer does the work `number` of `count` for this input: it does one of them, which its bytes choose,
/// because each of them would find most faults. A replay does all.
inline bool is_turn(Bytes input [[maybe_unused]], std::size_t number [[maybe_unused]],
                    std::size_t count [[maybe_unused]]) {
#ifdef ONNXAR_FUZZ_IN_MEMORY
  std::size_t sum = 0;
  for (const std::byte byte : input) sum = sum * 31 + std::to_integer<std::size_t>(byte);
  return (sum >> 7U) % count == number;
#else
  return true;
#endif
}

}  // namespace onnxar::fuzz
