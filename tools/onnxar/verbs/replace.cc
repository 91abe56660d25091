// Replaces the model of an archive in place, for the verb `replace`.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "onnxar/convert.h"
#include "shell/addresses.h"
#include "shell/exit_code.h"
#include "shell/model_text.h"
#include "shell/numbers.h"
#include "shell/options.h"
#include "shell/pairs.h"
#include "shell/progress_line.h"
#include "shell/report.h"
#include "shell/verbs.h"

namespace onnxar::tool {
namespace {

struct ReplaceArguments {
  std::filesystem::path archive, model;
  ReplaceOptions options;
  std::vector<std::string> add, variants;
  LoadOptions load = load_options();
  Verbosity verbosity;
};

std::string files_text(const ReplaceOptions& options) {
  std::string text;
  const auto count = [&text](std::size_t files, const char* what) {
    if (files != 0) text += counted(files, "file") + " " + what + ", ";
  };
  count(options.add.size(), "added or replaced");
  count(options.remove.size(), "removed");
  return text;
}

void print_report(const ReplaceReport& report, const ReplaceArguments& arguments) {
  const std::string& graph = arguments.options.graph;
  std::cerr << (arguments.options.output.dry_run ? "would replace" : "replaced")
            << (graph.empty() ? " the model: " : " the graph " + escaped(graph) + ": ");
  if (arguments.model.empty()) {
    std::cerr << "unchanged, ";
  } else {
    std::cerr << short_size(report.model_bytes) << ", " << counted(report.tensors_outside, "tensor") << " outside, ";
  }
  std::cerr << files_text(arguments.options) << counted(report.entries_added, "new entry", "new entries") << " ("
            << short_size(report.bytes_added) << "); file " << short_size(report.file_bytes_before) << " -> "
            << short_size(report.file_bytes) << shared_text(report.shared_bytes) << ": "
            << escaped_path(arguments.archive) << '\n';
  if (!report.discards_states) return;
  std::cerr << (arguments.options.output.dry_run ? "undo would not be possible" : "undo is not possible")
            << ": no entry stays in place, so the file is rewritten without its earlier states\n";
}

int replace(ReplaceArguments& arguments) {
  ReplaceOptions& options = arguments.options;
  for (const std::string& text : arguments.add) options.add.push_back(added_file(text));
  options.variants = graph_variants(arguments.variants);
  // MODEL is optional, because --add and --remove keep the present model. Without any of them an edit would change
  // nothing and still append.
  if (arguments.model.empty() && options.add.empty() && options.remove.empty() && options.variants.empty()) {
    throw Error(Code::usage_argument, "nothing to replace: give a MODEL, --add, --remove or --variant");
  }
  if (arguments.model.empty() && !options.graph.empty()) {
    throw Error(Code::usage_argument, "--model names the graph that MODEL becomes: give a MODEL");
  }
  if (arguments.model.empty() && !arguments.load.external_data_dir.empty()) {
    throw Error(Code::usage_argument, "--data-dir is for data of MODEL: give a MODEL");
  }
  const ReplaceReport report = with_progress("appending", arguments.verbosity, options.progress, [&] {
    return arguments.model.empty() ? onnxar::replace(arguments.archive, options)
                                   : onnxar::replace(arguments.archive, arguments.model, options, arguments.load);
  });
  print_remarks(report.remarks, arguments.verbosity);
  if (!arguments.verbosity.quiet) print_report(report, arguments);
  return exit_code::done;
}

}  // namespace

Verb add_replace(CLI::App& app) {
  auto arguments = std::make_shared<ReplaceArguments>();
  CLI::App* verb = app.add_subcommand(
      "replace", "Replace an archive's model, side files or graphs in place, without moving weights");
  add_file(*verb, "ARCHIVE", arguments->archive, "The archive to edit");
  add_file(*verb, "MODEL", arguments->model,
           "The new model: a .onnx file whose links lead to entries of ARCHIVE (see `cat --model`) or into its "
           "file, or another archive. New data inside the model is added to ARCHIVE")
      ->required(false);
  add_graph(*verb, arguments->options.graph, "Make MODEL this graph of the archive, or add it; the model stays");
  verb->add_flag("--append-external", arguments->options.append_external,
                 "Also accept links to data files beside MODEL, and add their data. A location that is both such a "
                 "file and an entry is an error, unless both have the same bytes");
  add_files(*verb, arguments->add, "Add a side file or a graph, or replace the one of this name (tokenizer.json=FILE)");
  verb->add_option("--remove", arguments->options.remove,
                   "Remove a side file or a graph that is after all weights, and the variants of the graph")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_variants(*verb, arguments->variants);
  ReplaceOptions& options = arguments->options;
  add_move_options(*verb, options);
  add_write_options(*verb, options.output);
  add_data_dir(*verb, arguments->load);
  add_max_expansion(*verb, arguments->load.max_expansion);
  add_timeout(*verb);
  add_verbosity(*verb, arguments->verbosity);
  verb->footer("Example: onnxar replace model.onnxar edited.onnx --add tokenizer.json=new.json");
  return {verb, [arguments] { return replace(*arguments); }};
}

}  // namespace onnxar::tool
