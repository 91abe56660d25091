// Reports of verbs: numbers and findings.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "onnxar/error.h"
#include "onnxar/onnxar_c.h"

struct onnxar_report {  // NOLINT(readability-identifier-naming): a name of C
  std::array<std::uint64_t, ONNXAR_REPORT_ENTRIES + 1> numbers = {};  // by ONNXAR_REPORT_*
  std::vector<onnxar::Finding> findings;
  // One for each finding, with its advice in words of C. The report owns them, since callers get views.
  std::vector<std::string> messages;
  std::vector<std::string> lines;
};

namespace onnxar::c {

/// Writes the findings of `report` in words of C.
void word_findings(onnxar_report& report);

/// Runs `verb`, which returns a report, and gives that to the caller. Its memory is allocated first: a caller that is
/// told of a failure may try again, and a second `undo` would cut off a second edit.
template <typename Verb>
void give_report(onnxar_report** report, const Verb& verb) {
  auto given = std::make_unique<onnxar_report>();
  *given = verb();
  if (report == nullptr) return;
  word_findings(*given);
  *report = given.release();
}

}  // namespace onnxar::c
