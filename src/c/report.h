// What a verb did, as callers of C ask for it.
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
  // Of each finding, with its advice in words of C; made with the report so that callers get views.
  std::vector<std::string> messages;
  std::vector<std::string> lines;
};

namespace onnxar::c {

/// Hands a report with these findings over to the caller, who may not want it.
void give_report(onnxar_report** report, onnxar_report made);

}  // namespace onnxar::c
