// Prints a model as text, for the verb `dump`.
#include <iostream>
#include <memory>

#include "model/front_end.h"
#include "shell/addresses.h"
#include "shell/exit_code.h"
#include "shell/model_text.h"
#include "shell/numbers.h"
#include "shell/options.h"
#include "shell/progress_line.h"
#include "shell/report.h"
#include "shell/standard_streams.h"
#include "shell/terminal.h"
#include "shell/verbs.h"

namespace onnxar::tool {
namespace {

struct DumpArguments {
  std::filesystem::path model;
  TextOptions options;
  Verbosity verbosity;
};

int dump(const DumpArguments& arguments) {
  // Printed in pieces, because text with all data may be larger than memory.
  const TextReport report = [&arguments] {
    // On a terminal the line would mix with the text.
    ProgressLine line("printing", {.quiet = arguments.verbosity.quiet || os::is_terminal(os::Stream::output)});
    const auto write = [&line](Bytes text) {
      write_to_stdout(text);
      line.add(text.size());
    };
    return onnxar::dump(arguments.model, write, arguments.options);
  }();
  print_remarks(report.remarks, arguments.verbosity);
  if (report.left_out != 0 && !arguments.verbosity.quiet) {
    std::cerr << "left out the data of " << counted(report.left_out, "tensor") << "; --with-data prints it\n";
  }
  return exit_code::done;
}

}  // namespace

Verb add_dump(CLI::App& app) {
  auto arguments = std::make_shared<DumpArguments>();
  CLI::App* verb = app.add_subcommand("dump", "Print a model as text, in protobuf's text format");
  add_model(*verb, arguments->model);
  verb->add_flag("--with-data", arguments->options.with_data,
                 "Print the data of all tensors, so that `pack` can restore the model");
  arguments->options.load = load_options();
  add_graph(*verb, arguments->options.load.graph, "Print this graph of an archive");
  add_data_dir(*verb, arguments->options.load);
  add_max_expansion(*verb, arguments->options.load.max_expansion);
  add_timeout(*verb);
  add_verbosity(*verb, arguments->verbosity);
  verb->footer("Example: onnxar dump --with-data model.onnx | onnxar pack - -o model.onnxar");
  return {verb, [arguments] { return dump(*arguments); }};
}

}  // namespace onnxar::tool
