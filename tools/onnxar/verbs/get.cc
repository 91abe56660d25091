// Downloads an archive, for the verb `get`.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "onnxar/remote.h"
#include "shell/addresses.h"
#include "shell/exit_code.h"
#include "shell/numbers.h"
#include "shell/options.h"
#include "shell/paths.h"
#include "shell/progress_line.h"
#include "shell/report.h"
#include "shell/verbs.h"

namespace onnxar::tool {
namespace {

struct GetArguments {
  std::string address;
  std::filesystem::path output;
  std::vector<std::string> reuse;
  GetOptions options;
  Verbosity verbosity;
};

void print_report(const GetReport& report, const GetArguments& arguments) {
  const bool dry_run = arguments.options.output.dry_run;
  std::cerr << escaped_path(arguments.output) << (dry_run ? ": would be " : ": ")
            << counted(report.entries, "entry", "entries") << ", " << short_size(report.file_bytes);
  if (report.resumed_bytes != 0) std::cerr << ", " << short_size(report.resumed_bytes) << " from an earlier download";
  if (report.reused_bytes != 0) std::cerr << ", " << short_size(report.reused_bytes) << " reused";
  std::cerr << ", " << short_size(report.downloaded_bytes);
  if (!arguments.options.graphs.empty()) std::cerr << " of " << short_size(report.remote_bytes);
  std::cerr << (dry_run ? " to download" : " downloaded") << '\n';
}

int get(GetArguments& arguments) {
  const std::size_t connections = arguments.options.remote.connections;
  arguments.options.remote = remote_options();
  for (const std::string& path : arguments.reuse) arguments.options.reuse.push_back(path_of(path));
  arguments.options.remote.connections = connections;
  const GetReport report = with_progress("downloading", arguments.verbosity, arguments.options.progress, [&arguments] {
    return onnxar::get(arguments.address, arguments.output, arguments.options);
  });
  if (!arguments.verbosity.quiet) print_report(report, arguments);
  return exit_code::done;
}

}  // namespace

Verb add_get(CLI::App& app) {
  auto arguments = std::make_shared<GetArguments>();
  CLI::App* verb = app.add_subcommand("get", "Download an archive, and verify it before it gets its name");
  verb->add_option("ADDRESS", arguments->address, "http://, https:// or s3://BUCKET/KEY")->required();
  add_output(*verb, arguments->output, "The archive to write; an interrupted download continues");
  verb->add_option("-c,--connections", arguments->options.remote.connections, "Number of concurrent requests")
      ->type_name("N")
      ->capture_default_str();
  add_graphs(
      *verb, arguments->options.graphs,
      "Download only what this graph, or variant of a package, needs, and write what `pack --model` would write");
  verb->add_option("--reuse", arguments->reuse,
                   "Copy the entries that this archive has, and download only the others; with --force, the replaced "
                   "archive is used too")
      ->type_name(value_type::file)
      ->allow_extra_args(false);
  verb->add_option("--digest", arguments->options.digest,
                   "Refuse an archive whose content has another digest (`onnxar digest`)")
      ->type_name("HEX");
  add_timeout(*verb);
  add_threads(*verb, arguments->options.output.threads);
  add_overwrite(*verb, arguments->options.output);
  add_write_options(*verb, arguments->options.output);
  add_verbosity(*verb, arguments->verbosity);
  verb->footer("Example: onnxar get https://host/model.onnxar -o model.onnxar");
  return {verb, [arguments] { return get(*arguments); }};
}

}  // namespace onnxar::tool
