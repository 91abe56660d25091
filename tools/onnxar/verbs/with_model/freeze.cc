// Turns inputs of a model into initializers, for the verb `freeze`.
#include <iostream>
#include <memory>

#include "onnxar/model/model.h"
#include "shell/addresses.h"
#include "shell/exit_code.h"
#include "shell/json.h"
#include "shell/model_text.h"
#include "shell/numbers.h"
#include "shell/options.h"
#include "shell/progress_line.h"
#include "shell/report.h"
#include "shell/verbs.h"
#include "verbs/with_model/freeze_json.h"

namespace onnxar::tool {
namespace {

struct FreezeArguments {
  std::filesystem::path input, output;
  SaveOptions save;
  FreezeOptions options;
  bool json = false;
  Verbosity verbosity;
};

void print_report(const FreezeReport& report, const FreezeArguments& arguments) {
  std::cerr << escaped_path(arguments.output) << ": without " << counted(report.nodes, "node") << ", "
            << counted(report.initializers, "initializer") << ", " << counted(report.functions, "function") << ", "
            << counted(report.training_infos, "training info") << " that no output needs";
  if (report.opset_imports != 0)
    std::cerr << "; " << counted(report.opset_imports, "opset import") << " that nothing uses";
  if (report.inputs != 0) std::cerr << "; " << counted(report.inputs, "input") << " removed with the default value";
  if (!arguments.options.weights.empty()) {
    std::cerr << "; " << counted(report.filled, "tensor") << " filled from " << escaped_path(arguments.options.weights);
  }
  std::cerr << (arguments.save.output.dry_run ? "; nothing was written\n" : "\n");
  if (report.surplus.empty()) return;
  std::cerr << "onnxar: " << counted(report.surplus.size(), "unused tensor") << " in "
            << escaped_path(arguments.options.weights.filename()) << ", such as \"" << escaped(report.surplus.front())
            << "\"\n";
}

int freeze_model(FreezeArguments& arguments) {
  arguments.options.load.threads = arguments.save.output.threads;
  const FreezeReport report = with_progress("writing", arguments.verbosity, arguments.save.progress, [&arguments] {
    return freeze(arguments.input, arguments.output, arguments.save, arguments.options);
  });
  // JSON goes to the standard output and the sentence below to stderr, so both may be asked for.
  if (arguments.json) print(report);
  print_remarks(report.saved.remarks, arguments.verbosity);
  if (!arguments.verbosity.quiet) print_report(report, arguments);
  return exit_code::done;
}

}  // namespace

Verb add_freeze(CLI::App& app) {
  auto arguments = std::make_shared<FreezeArguments>();
  CLI::App* verb = app.add_subcommand("freeze", "Write an archive with only what inference needs");
  add_model(*verb, arguments->input);
  add_output(*verb, arguments->output, "The archive to write");
  add_path(*verb, "--weights", arguments->options.weights,
           "Fill initializers without data, and inputs, by name from this model, archive, .npz or safetensors file")
      ->type_name(value_type::file);
  verb->add_flag("--strip-docs", arguments->options.strip_docs, "Omit doc strings");
  verb->add_flag("--strip-metadata", arguments->options.strip_metadata, "Omit metadata_props");
  verb->add_flag("--json", arguments->json, "Print the report as JSON");
  add_save_options(*verb, arguments->save);
  arguments->options.load = load_options();
  add_graph(*verb, arguments->options.load.graph, "Freeze this graph of an archive, which becomes the only one");
  add_data_dir(*verb, arguments->options.load);
  add_max_expansion(*verb, arguments->options.load.max_expansion);
  add_threads(*verb, arguments->save.output.threads);
  add_timeout(*verb);
  add_verbosity(*verb, arguments->verbosity);
  verb->footer("Example: onnxar freeze model.onnx --weights checkpoint.npz -o model.onnxar");
  return {verb, [arguments] { return freeze_model(*arguments); }};
}

}  // namespace onnxar::tool
