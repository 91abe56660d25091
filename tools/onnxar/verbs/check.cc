// Checks a file and prints the findings, for the verb `check`.
#include <algorithm>
#include <iostream>
#include <memory>

#include "onnxar/convert.h"
#include "shell/addresses.h"
#include "shell/exit_code.h"
#include "shell/hints.h"
#include "shell/json.h"
#include "shell/model_text.h"
#include "shell/numbers.h"
#include "shell/options.h"
#include "shell/progress_line.h"
#include "shell/report.h"
#include "shell/terminal.h"
#include "shell/verbs.h"

namespace onnxar::tool {
namespace {

struct CheckArguments {
  std::filesystem::path model;
  CheckOptions options;
  bool json = false;
  Verbosity verbosity;
};

void print_json(const std::vector<Finding>& findings) {
  Json document;
  document["ok"] = passed(findings);
  document["findings"] = findings;
  print(document);
}

void print_summary(const std::vector<Finding>& findings, const CheckArguments& arguments) {
  const auto count = [&findings](Severity severity, const char* what) {
    const auto number = std::ranges::count(findings, severity, &Finding::severity);
    return counted(static_cast<std::uint64_t>(number), what);
  };
  std::cerr << escaped_path(arguments.model) << ": " << (passed(findings) ? "good" : "not good") << ", "
            << count(Severity::error, "error") << ", " << count(Severity::warning, "warning") << ", "
            << count(Severity::note, "note") << (arguments.options.data ? "" : " (--data also verifies the weights)")
            << '\n';
}

void print_findings(const std::vector<Finding>& findings, const Verbosity& verbosity) {
  for (const Finding& finding : findings) {
    if (verbosity.quiet && finding.severity != Severity::error) continue;
    // Findings are the result and go to the standard output; the summary on stderr does not get into a pipe.
    std::cout << with_coloured_severity(os::Stream::output, finding.severity, line_of(finding)) << '\n';
  }
}

int check_model(CheckArguments& arguments) {
  const std::vector<Finding> findings =
      with_progress("checking", arguments.verbosity, arguments.options.progress,
                    [&arguments] { return check(arguments.model, arguments.options); });
  if (arguments.json) {
    print_json(findings);
  } else {
    print_findings(findings, arguments.verbosity);
  }
  if (!arguments.verbosity.quiet) print_summary(findings, arguments);
  // Not the exit code for broken input: the check itself succeeded.
  return passed(findings) ? exit_code::done : exit_code::found;
}

}  // namespace

Verb add_check(CLI::App& app) {
  auto arguments = std::make_shared<CheckArguments>();
  CLI::App* verb = app.add_subcommand("check", "Report all faults of an archive or model, one finding per line");
  add_model(*verb, arguments->model);
  verb->add_flag("--data", arguments->options.data, "Also compare the CRC-32 of every entry (reads all bytes)");
  verb->add_flag("--strict", arguments->options.strict, "Warnings and superseded tails of edits are errors");
  verb->add_flag("--json", arguments->json, "Findings as JSON");
  arguments->options.load = load_options();
  add_data_dir(*verb, arguments->options.load);
  add_threads(*verb, arguments->options.load.threads);
  add_timeout(*verb);
  add_verbosity(*verb, arguments->verbosity);
  verb->footer(
      "`onnxar-py verify` of the Python package verifies signatures.\n"
      "Example: onnxar check --data model.onnxar && echo good");
  return {verb, [arguments] { return check_model(*arguments); }};
}

}  // namespace onnxar::tool
