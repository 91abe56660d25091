// Runs the verbs for C: each function checks its arguments, calls the C++ function, and fills in a report.
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/text.h"
#include "c/boundary.h"
#include "c/options.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "onnxar/error.h"
#include "onnxar/link.h"
#include "os/names.h"

struct onnxar_report {  // NOLINT(readability-identifier-naming): a name of C
  std::array<std::uint64_t, ONNXAR_REPORT_DISCARDS_STATES + 1> numbers = {};  // by ONNXAR_REPORT_*
  std::vector<onnxar::Finding> findings;
  // One for each finding, with its advice in words of C. The report owns them, since callers get views.
  std::vector<std::string> messages;
  std::vector<std::string> lines;
};

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

using Numbers = std::initializer_list<std::pair<int, std::uint64_t>>;  // each with its ONNXAR_REPORT_*

/// Makes a report. A number that a verb does not have stays 0, because callers read all reports by the same indices.
onnxar_report made(Numbers numbers, std::vector<Finding> findings = {}) {
  onnxar_report report;
  for (const auto& [which, number] : numbers) report.numbers.at(static_cast<std::size_t>(which)) = number;
  report.findings = std::move(findings);
  return report;
}

onnxar_report report_of(ConvertReport done) {
  return made({{ONNXAR_REPORT_FILE_BYTES, done.file_bytes},
               {ONNXAR_REPORT_MODEL_BYTES, done.model_bytes},
               {ONNXAR_REPORT_DATA_BYTES, done.payload_bytes},
               {ONNXAR_REPORT_TENSORS, done.tensors_outside},
               {ONNXAR_REPORT_ENTRIES, done.payloads}},
              std::move(done.remarks));
}

onnxar_report report_of(RepackReport done) {
  return made({{ONNXAR_REPORT_FILE_BYTES, done.file_bytes},
               {ONNXAR_REPORT_FILE_BYTES_BEFORE, done.input_bytes},
               {ONNXAR_REPORT_ENTRIES, done.entries}},
              std::move(done.remarks));
}

onnxar_report report_of(ReplaceReport done) {
  return made({{ONNXAR_REPORT_FILE_BYTES, done.file_bytes},
               {ONNXAR_REPORT_FILE_BYTES_BEFORE, done.file_bytes_before},
               {ONNXAR_REPORT_MODEL_BYTES, done.model_bytes},
               {ONNXAR_REPORT_DATA_BYTES, done.bytes_added},
               {ONNXAR_REPORT_TENSORS, done.tensors_outside},
               {ONNXAR_REPORT_ENTRIES, done.entries_added},
               {ONNXAR_REPORT_DISCARDS_STATES, done.discards_states ? 1U : 0U}},
              std::move(done.remarks));
}

onnxar_report report_of(const EarlierState& state) {
  return made({{ONNXAR_REPORT_FILE_BYTES, state.size},
               {ONNXAR_REPORT_FILE_BYTES_BEFORE, state.file_size},
               {ONNXAR_REPORT_MODEL_BYTES, state.model_size},
               {ONNXAR_REPORT_ENTRIES, state.entries}});
}

onnxar_report report_of(LinkReport done) {
  return made({{ONNXAR_REPORT_FILE_BYTES, done.model_bytes},
               {ONNXAR_REPORT_MODEL_BYTES, done.model_bytes},
               {ONNXAR_REPORT_TENSORS, done.tensors}},
              std::move(done.remarks));
}

onnxar_report report_of(const std::vector<ExtractedTensor>& done) {
  std::uint64_t bytes = 0;
  for (const ExtractedTensor& tensor : done) bytes += tensor.file_bytes;
  return made({{ONNXAR_REPORT_FILE_BYTES, bytes}, {ONNXAR_REPORT_TENSORS, done.size()}});
}

/// Describes the findings for callers of C.
void word_findings(onnxar_report& report) {
  // The texts are made here and kept, because C callers get pointers into the report.
  for (const Finding& finding : report.findings) {
    const std::string words = words_of(finding.advice);
    report.messages.push_back(with_advice(finding.message, words));
    report.lines.push_back(to_string(finding, words));
  }
}

/// Runs a verb and passes its report to the caller. The report's memory is allocated first: a caller that sees a
/// failure may try again, and a second `undo` would cut off a second edit.
template <typename Run>
onnxar_status run_verb(std::uint32_t abi, onnxar_report** report, onnxar_error** error, const Run& run) {
  return guarded(abi, error, [&] {
    auto given = std::make_unique<onnxar_report>();
    *given = run();
    if (report == nullptr) return;
    word_findings(*given);
    *report = given.release();
  });
}

}  // namespace
}  // namespace onnxar::c

using namespace onnxar;
using namespace onnxar::c;

ONNXAR_C_EXPORT onnxar_status onnxar_pack(uint32_t abi, const char* model, const char* archive,
                                          const onnxar_options* options, onnxar_report** report, onnxar_error** error) {
  return run_verb(abi, report, error, [&] {
    check_given("model", model, "archive", archive);
    const VerbOptions given(options, Verb::pack);
    return report_of(pack(os::path_of(model), os::path_of(archive), given.save(), given.load()));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_pack_memory(uint32_t abi, const void* model, size_t size, const char* archive,
                                                 const onnxar_options* options, onnxar_report** report,
                                                 onnxar_error** error) {
  return run_verb(abi, report, error, [&] {
    check_given("archive", archive);
    const VerbOptions given(options, Verb::pack);
    return report_of(pack(bytes_of(model, size, "model"), os::path_of(archive), given.save(), given.load()));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_pack_models(uint32_t abi, const onnxar_added_file* models, size_t count,
                                                 const char* archive, const onnxar_options* options,
                                                 onnxar_report** report, onnxar_error** error) {
  return run_verb(abi, report, error, [&] {
    check_argument(models != nullptr || count == 0, "models");
    check_argument(archive != nullptr, "archive");
    std::vector<ModelFile> files;
    for (const onnxar_added_file& model : std::span(models, count)) {
      check_argument(model.path != nullptr, "models.path");
      files.push_back({os::path_of(model.path), model.name == nullptr ? "" : model.name});
    }
    const VerbOptions given(options, Verb::pack);
    return report_of(pack(files, os::path_of(archive), given.save(), given.load()));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_unpack(uint32_t abi, const char* archive, const char* model,
                                            const onnxar_options* options, onnxar_report** report,
                                            onnxar_error** error) {
  return run_verb(abi, report, error, [&] {
    check_given("archive", archive, "model", model);
    const VerbOptions given(options, Verb::unpack);
    return report_of(unpack(os::path_of(archive), os::path_of(model), given.save(), given.load()));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_check(uint32_t abi, const char* path, const onnxar_options* options,
                                           onnxar_report** report, onnxar_error** error) {
  return run_verb(abi, report, error, [&] {
    check_argument(path != nullptr, "path");
    // The findings are the only result: a check without a report would have no result.
    check_argument(report != nullptr, "report");
    return made({}, check(os::path_of(path), VerbOptions(options, Verb::check).check()));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_repack(uint32_t abi, const char* zip, const char* archive,
                                            const onnxar_options* options, onnxar_report** report,
                                            onnxar_error** error) {
  return run_verb(abi, report, error, [&] {
    check_given("zip", zip, "archive", archive);
    return report_of(repack(os::path_of(zip), os::path_of(archive), VerbOptions(options, Verb::repack).repack()));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_replace(uint32_t abi, const char* archive, const char* model,
                                             const onnxar_options* options, onnxar_report** report,
                                             onnxar_error** error) {
  return run_verb(abi, report, error, [&] {
    check_argument(archive != nullptr, "archive");
    const VerbOptions given(options, Verb::replace);
    const ReplaceOptions replacing = given.replace();
    if (model == nullptr && replacing.add.empty() && replacing.remove.empty()) {
      throw Error(Code::usage_argument, "nothing to replace: give a model, or names in `add` or `remove`");
    }
    if (model == nullptr && (replacing.threshold != default_threshold || !given.load().external_data_dir.empty())) {
      throw Error(Code::usage_argument, "`threshold` and `external_data_dir` are for a new model: give one");
    }
    return report_of(model == nullptr ? replace(os::path_of(archive), replacing)
                                      : replace(os::path_of(archive), os::path_of(model), replacing, given.load()));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_replace_memory(uint32_t abi, const char* archive, const void* model, size_t size,
                                                    const onnxar_options* options, onnxar_report** report,
                                                    onnxar_error** error) {
  return run_verb(abi, report, error, [&] {
    check_given("archive", archive);
    const VerbOptions given(options, Verb::replace);
    return report_of(replace(os::path_of(archive), bytes_of(model, size, "model"), given.replace(), given.load()));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_undo(uint32_t abi, const char* archive, const onnxar_options* options,
                                          onnxar_report** report, onnxar_error** error) {
  return run_verb(abi, report, error, [&] {
    check_argument(archive != nullptr, "archive");
    return report_of(undo(os::path_of(archive), VerbOptions(options, Verb::undo).output()));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_recover(uint32_t abi, const char* archive, const onnxar_options* options,
                                             onnxar_report** report, onnxar_error** error) {
  return run_verb(abi, report, error, [&] {
    check_argument(archive != nullptr, "archive");
    return report_of(recover(os::path_of(archive), VerbOptions(options, Verb::recover).output()));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_link(uint32_t abi, const char* archive, const char* model,
                                          const onnxar_options* options, onnxar_report** report, onnxar_error** error) {
  return run_verb(abi, report, error, [&] {
    check_given("archive", archive, "model", model);
    return report_of(onnxar::link(os::path_of(archive), os::path_of(model), VerbOptions(options, Verb::link).link()));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_extract(uint32_t abi, const char* model, const char* which, const char* output,
                                             const onnxar_options* options, onnxar_report** report,
                                             onnxar_error** error) {
  return run_verb(abi, report, error, [&] {
    check_given("model", model, "which", which, "output", output);
    const VerbOptions given(options, Verb::extract);
    return report_of(extract(os::path_of(model), which, os::path_of(output), given.extract()));
  });
}

// --- Reports ---------------------------------------------------------------------------------------------------------

ONNXAR_C_EXPORT uint64_t onnxar_report_number(const onnxar_report* report, int32_t number) {
  // A caller that was compiled against a later header may ask for a number that this library does not have.
  if (report == nullptr || number < 1 || number > ONNXAR_REPORT_DISCARDS_STATES) return 0;
  return report->numbers[static_cast<std::size_t>(number)];
}

ONNXAR_C_EXPORT uint64_t onnxar_finding_count(const onnxar_report* report) {
  return report == nullptr ? 0 : report->findings.size();
}

ONNXAR_C_EXPORT onnxar_status onnxar_get_finding(const onnxar_report* report, uint64_t index, onnxar_finding* finding,
                                                 onnxar_error** error) {
  return guarded(error, [&] {
    check_given("report", report, "finding", finding);
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
