// Reports of verbs: numbers and findings.
#pragma once

#include <array>
#include <cstdint>
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

/// Words the findings of `made`, and gives the report to the caller. Does nothing if `report` is null.
void give_report(onnxar_report** report, onnxar_report made);

}  // namespace onnxar::c
