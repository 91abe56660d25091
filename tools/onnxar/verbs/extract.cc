// Writes selected tensors into files, for the verb `extract`.
#include <iostream>
#include <memory>

#include "onnxar/convert.h"
#include "shell/addresses.h"
#include "shell/exit_code.h"
#include "shell/model_text.h"
#include "shell/options.h"
#include "shell/progress_line.h"
#include "shell/report.h"
#include "shell/verbs.h"

namespace onnxar::tool {
namespace {

struct ExtractArguments {
  std::filesystem::path model, output;
  std::string which;
  ExtractOptions options;
  Verbosity verbosity;
};

/// Prints `w: FLOAT[64,3,7,7] -> w.npy, 37760 bytes, <f4`.
void print_row(const ExtractedTensor& row) {
  const TensorInfo& tensor = row.tensor;
  if (row.path.empty()) {
    std::cerr << "onnxar: warning: " << escaped(tensor.label())
              << " holds strings, which have no array: it is not extracted; `onnxar dump --with-data` prints it\n";
    return;
  }
  std::cerr << escaped(tensor.label()) << ": " << to_string(tensor.type) << shape_text(tensor.dims) << " -> "
            << escaped_path(row.path) << ", " << row.file_bytes << " bytes";
  if (!row.descr.empty()) std::cerr << ", " << row.descr;
  if (row.as_integers)
    std::cerr << " (NumPy has no " << to_string(tensor.type) << ": the file has its bits as integers)";
  std::cerr << '\n';
}

int extract_tensors(ExtractArguments& arguments) {
  const auto rows = with_progress("extracting", arguments.verbosity, arguments.options.progress, [&arguments] {
    return extract(arguments.model, arguments.which, arguments.output, arguments.options);
  });
  if (arguments.verbosity.quiet) return exit_code::done;
  for (const ExtractedTensor& row : rows) print_row(row);
  // The rows look the same for a dry run, so the last line says that it was one.
  if (arguments.options.output.dry_run) std::cerr << "nothing was written\n";
  return exit_code::done;
}

}  // namespace

Verb add_extract(CLI::App& app) {
  auto arguments = std::make_shared<ExtractArguments>();
  CLI::App* verb = app.add_subcommand("extract", "Write tensors as .npy files or raw bytes");
  add_model(*verb, arguments->model);
  verb->add_option(
          "TENSOR", arguments->which,
          "The tensor's name, else its key, else its site such as graph.node[3].attr.value, else the output of its "
          "Constant node; or a pattern for names, such as 'layer1.*', which skips strings")
      ->required();
  add_output(*verb, arguments->output, "The file to write; for a pattern, the folder");
  verb->add_flag("--raw", arguments->options.raw, "Write the tensor's raw bytes instead of .npy");
  add_overwrite(*verb, arguments->options.output);
  add_write_options(*verb, arguments->options.output);
  arguments->options.load = load_options();
  add_graph(*verb, arguments->options.load.graph, "Take the tensors of this graph of an archive");
  add_data_dir(*verb, arguments->options.load);
  add_max_expansion(*verb, arguments->options.load.max_expansion);
  add_timeout(*verb);
  add_verbosity(*verb, arguments->verbosity);
  verb->footer("Example: onnxar extract model.onnxar layer1.weight -o weight.npy");
  return {verb, [arguments] { return extract_tensors(*arguments); }};
}

}  // namespace onnxar::tool
