#include "c/report.h"

#include <string>

#include "base/checked.h"
#include "base/text.h"
#include "c/arguments.h"
#include "c/errors.h"
#include "c/export.h"
#include "onnxar/convert.h"

namespace onnxar::c {
namespace {

static_assert(sizeof(void*) != 8 || sizeof(onnxar_finding) == 48);
static_assert(static_cast<int>(Severity::error) == 0 && static_cast<int>(Severity::warning) == 1 &&
              static_cast<int>(Severity::note) == 2);

onnxar_finding c_finding(const Finding& finding, const std::string& message, const std::string& line) {
  return {static_cast<std::int32_t>(finding.severity),
          finding.place.offset ? 1 : 0,
          finding.place.offset.value_or(0),
          id(finding.code).data(),  // NOLINT(bugprone-suspicious-stringview-data-usage): a literal, so a NUL follows it
          finding.place.entry.c_str(),
          message.c_str(),
          line.c_str()};
}

}  // namespace

void word_findings(onnxar_report& report) {
  // The texts are made here and kept, because C callers get pointers into the report.
  for (const Finding& finding : report.findings) {
    const std::string words = words_of(finding.advice);
    report.messages.push_back(with_advice(finding.message, words));
    report.lines.push_back(to_string(finding, words));
  }
}

}  // namespace onnxar::c

using namespace onnxar;
using namespace onnxar::c;

ONNXAR_C_EXPORT uint64_t onnxar_report_number(const onnxar_report* report, int32_t number) {
  // A caller that was compiled against a later header may ask for a number that this library does not have.
  if (report == nullptr || number < 1 || number > ONNXAR_REPORT_ENTRIES) return 0;
  return report->numbers[static_cast<std::size_t>(number)];
}

ONNXAR_C_EXPORT uint64_t onnxar_finding_count(const onnxar_report* report) {
  return report == nullptr ? 0 : report->findings.size();
}

ONNXAR_C_EXPORT onnxar_status onnxar_get_finding(const onnxar_report* report, uint64_t index, onnxar_finding* finding,
                                                 onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(report != nullptr, "report");
    check_argument(finding != nullptr, "finding");
    if (index >= report->findings.size()) {
      throw Error(Code::usage_argument,
                  base::concat("finding ", index, " does not exist: the report has ", report->findings.size()));
    }
    const std::size_t at = base::in_memory(index);
    *finding = c_finding(report->findings[at], report->messages[at], report->lines[at]);
  });
}

ONNXAR_C_EXPORT int onnxar_passed(const onnxar_report* report) {
  return report != nullptr && passed(report->findings) ? 1 : 0;
}

ONNXAR_C_EXPORT void onnxar_report_free(onnxar_report* report) { delete report; }
