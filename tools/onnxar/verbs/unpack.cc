// Writes an archive as a plain model, for the verb `unpack`.
#include <iostream>
#include <memory>

#include "shell/addresses.h"
#include "shell/exit_code.h"
#include "shell/model_text.h"
#include "shell/numbers.h"
#include "shell/options.h"
#include "shell/progress_line.h"
#include "shell/report.h"
#include "shell/standard_streams.h"
#include "shell/verbs.h"

namespace onnxar::tool {
namespace {

struct UnpackArguments {
  std::filesystem::path model, output;
  SaveOptions save;
  LoadOptions load = load_options();
  bool text = false;
  Verbosity verbosity;
};

void print_report(const ConvertReport& report, const UnpackArguments& arguments) {
  std::cerr << (arguments.save.output.dry_run ? "would write " : "wrote ") << escaped_path(report.model_path) << " ("
            << short_size(report.model_bytes) << ")";
  if (report.tensors_outside != 0 || arguments.save.format == Format::onnx_external) {
    const bool one_file = !arguments.save.file_per_tensor;
    std::cerr << " and " << counted(report.tensors_outside, "tensor") << " (" << short_size(report.payload_bytes)
              << ") in " << (one_file ? escaped_path(report.data_file) : counted(report.payloads, "file"));
  }
  if (report.side_files != 0) std::cerr << ", with " << counted(report.side_files, "side file");
  if (report.graphs != 0)
    std::cerr << (report.side_files != 0 ? " and " : ", with ") << counted(report.graphs, "graph");
  std::cerr << '\n';
}

void note_left_out(const ConvertReport& report) {
  std::string text;
  if (report.side_files_left_out != 0) text = counted(report.side_files_left_out, "side file");
  if (report.graphs_left_out != 0) text += (text.empty() ? "" : " and ") + counted(report.graphs_left_out, "graph");
  if (text.empty()) return;
  std::cerr << "onnxar: note: " << text << " of the archive left out; `-o FOLDER/` restores everything\n";
}

int unpack(UnpackArguments& arguments) {
  if (arguments.output.empty()) {
    arguments.output = output_beside(arguments.text ? "" : arguments.model, ".onnxar", ".onnx");
  }
  SaveOptions& save = arguments.save;
  // The options of data files imply the format, so the verb needs no option for it.
  const bool external = save.file_per_tensor || !save.data_file.empty();
  save.format = external ? Format::onnx_external : Format::onnx_inline;
  const ConvertReport report = with_progress("unpacking", arguments.verbosity, save.progress, [&] {
    return arguments.text ? write_text(arguments.model, arguments.output, save, arguments.load)
                          : convert_input(arguments.model, arguments.output, save, arguments.load);
  });
  print_remarks(report.remarks, arguments.verbosity);
  if (arguments.verbosity.quiet) return exit_code::done;
  note_left_out(report);
  print_report(report, arguments);
  return exit_code::done;
}

}  // namespace

Verb add_unpack(CLI::App& app) {
  auto arguments = std::make_shared<UnpackArguments>();
  CLI::App* verb = app.add_subcommand("unpack", "Write a model as plain ONNX, data inside (below 2 GiB) or beside it");
  add_path(*verb, "MODEL", arguments->model, "An archive, a .onnx file, or a model as text; - is the standard input")
      ->required()
      ->type_name(value_type::file);
  add_optional_output(
      *verb, arguments->output,
      "The .onnx file to write; or an empty folder, or a new folder if the name ends with `/`, for the model, "
      "all graphs and all side files; by default NAME.onnx beside an archive NAME.onnxar");
  auto* external =
      verb->add_option(
              "--external-data", arguments->save.data_file,
              "Keep large tensors in a data file of this name beside the output. `*` stands for the name of the "
              "model's file, so *_data gives each model of a folder its own data file")
          // An empty name would silently mean that all data goes into the model.
          ->check(CLI::Validator(
              [](const std::string& name) { return name.empty() ? std::string("a file name is needed") : ""; }, ""))
          ->type_name("NAME");
  auto* per_tensor = verb->add_flag("--per-tensor", arguments->save.file_per_tensor,
                                    "Keep each large tensor in a separate data file beside the output")
                         ->excludes(external);
  verb->add_flag("--text", arguments->text, "Write protobuf's text format, including all data")
      ->excludes(external)
      ->excludes(per_tensor);
  add_save_options(*verb, arguments->save);
  add_graph(*verb, arguments->load.graph, "Unpack only this graph of an archive");
  add_data_dir(*verb, arguments->load);
  add_max_expansion(*verb, arguments->load.max_expansion);
  add_threads(*verb, arguments->load.threads);
  add_timeout(*verb);
  add_verbosity(*verb, arguments->verbosity);
  verb->footer(
      "A file has only the model: side files of an archive (tokenizer.json) are left out. A FOLDER/ also gets the side "
      "files.\n"
      "The model in a folder is named like MODEL, with the extension .onnx (.textproto with --text), or model.onnx.\n"
      "A model that would reach 2 GiB has its data in NAME.onnx.data beside it, or in NAME.onnx_data in a folder "
      "onnx/.\n"
      "Example: onnxar unpack model.onnxar -o model.onnx --external-data model.onnx.data");
  return {verb, [arguments] { return unpack(*arguments); }};
}

}  // namespace onnxar::tool
