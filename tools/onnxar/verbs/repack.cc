// Repacks a zip file as an archive, for the verb `repack`.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "archive/front_end.h"
#include "onnxar/convert.h"
#include "shell/exit_code.h"
#include "shell/numbers.h"
#include "shell/options.h"
#include "shell/pairs.h"
#include "shell/progress_line.h"
#include "shell/report.h"
#include "shell/verbs.h"

namespace onnxar::tool {
namespace {

struct RepackArguments {
  std::filesystem::path zip, output;
  std::uint64_t check = 0;
  std::uint64_t alignment = 0;
  std::vector<std::string> rename;
  RepackOptions options;
  Verbosity verbosity;
};

int repack_to_output(RepackArguments& arguments) {
  if (arguments.output.empty()) {
    throw Error(Code::usage_argument, "name the archive to write with --output FILE, or only look with --check BYTES");
  }
  RepackOptions& options = arguments.options;
  options.rename = renamed_entries(arguments.rename);
  if (arguments.alignment != 0) options.alignment = arguments.alignment;
  const RepackReport report = with_progress("repacking", arguments.verbosity, options.progress,
                                            [&] { return repack(arguments.zip, arguments.output, options); });
  print_remarks(report.remarks, arguments.verbosity);
  if (arguments.verbosity.quiet) return exit_code::done;
  std::cerr << (options.output.dry_run ? "would repack " : "repacked ") << counted(report.entries, "entry", "entries")
            << ", file " << short_size(report.file_bytes) << " (was " << short_size(report.input_bytes)
            << "): " << escaped_path(arguments.output) << '\n';
  return exit_code::done;
}

std::string verdict(const EntryAlignment& entry) {
  switch (entry.kind) {
    case EntryAlignment::Kind::folder: return "OK - folder";
    case EntryAlignment::Kind::compressed: return "OK - compressed";
    case EntryAlignment::Kind::stored: break;
  }
  return entry.off_by == 0 ? "OK" : "off by " + std::to_string(entry.off_by);
}

int check_only(const RepackArguments& arguments) {
  const std::vector<EntryAlignment> entries = check_alignment(arguments.zip, arguments.check);
  const auto off = std::ranges::count_if(entries, [](const EntryAlignment& entry) { return entry.off_by != 0; });
  for (const EntryAlignment& entry : entries) {
    if (!arguments.verbosity.verbose) break;
    std::cout << std::setw(12) << entry.offset << ' ' << escaped(entry.name) << " (" << verdict(entry) << ")\n";
  }
  if (!arguments.verbosity.quiet) {
    std::cerr << escaped_path(arguments.zip) << ": " << off << " of " << entries.size()
              << " entries do not begin at a multiple of " << arguments.check
              << (off != 0 && !arguments.verbosity.verbose ? " (-v shows them)" : "") << '\n';
  }
  return off == 0 ? exit_code::done : exit_code::found;
}

/// Refuses an alignment of 0, which repack_to_output takes as absent.
CLI::Validator not_zero() {
  return {[](const std::string& text) { return text == "0" ? std::string("must be a power of two") : ""; }, ""};
}

}  // namespace

Verb add_repack(CLI::App& app) {
  auto arguments = std::make_shared<RepackArguments>();
  RepackOptions& options = arguments->options;
  CLI::App* verb =
      app.add_subcommand("repack", "Make an archive from a zip file, or a smaller one from an edited archive");
  add_file(*verb, "ZIP", arguments->zip, "A zip file that holds a model, or an archive");
  CLI::Option* output =
      add_optional_output(*verb, arguments->output, "The archive to write; the input itself with --force");
  // A check writes nothing, so the options of writing exclude it.
  CLI::Option* check = add_size(*verb, "-c,--check", arguments->check,
                                "Only report whether entries begin at multiples of this (-v lists them)")
                           ->excludes(output);
  add_size(*verb, "--align", arguments->alignment,
           "Begin entries at multiples of this, a power of two; default: as recorded, else 64")
      ->excludes(check)
      ->check(not_zero());
  add_max_expansion(*verb, options.max_expansion)->excludes(check);
  add_rename(*verb, arguments->rename)->excludes(check);
  add_overwrite(*verb, options.output)->excludes(check);
  for (CLI::Option* option : add_write_options(*verb, options.output)) option->excludes(check);
  add_threads(*verb, options.output.threads);
  add_verbosity(*verb, arguments->verbosity);
  verb->footer("Example: onnxar repack model.zip -o model.onnxar");
  return {verb,
          [arguments, check] { return check->count() != 0 ? check_only(*arguments) : repack_to_output(*arguments); }};
}

}  // namespace onnxar::tool
