#include <iostream>
#include <memory>

#include "command.h"

namespace onnxar::tool {
namespace {

struct PackArguments {
  std::filesystem::path model, output;
  SaveOptions save;
  LoadOptions load;
  Verbosity verbosity;
};

int pack(const PackArguments& arguments) {
  const ConvertReport report = convert(arguments.model, arguments.output, arguments.save, arguments.load);
  print_remarks(report.remarks, arguments.verbosity);
  if (arguments.verbosity.quiet) return exit_code::done;
  std::cerr << (arguments.save.dry_run ? "would pack " : "packed ") << report.tensors_outside << " tensors into "
            << report.payloads << " entries (" << short_size(report.payload_bytes) << "), model "
            << short_size(report.model_bytes) << ", file " << short_size(report.file_bytes) << ": "
            << escaped(arguments.output.string()) << '\n';
  return exit_code::done;
}

}  // namespace

Verb add_pack(CLI::App& app) {
  auto arguments = std::make_shared<PackArguments>();
  CLI::App* verb = app.add_subcommand("pack", "Put a model and its weights into one archive");
  verb->add_option("MODEL", arguments->model,
                   "A .onnx file (data inside or outside), an archive, or a zip file or folder that another tool "
                   "exported, told apart by content")
      ->required();
  add_output(*verb, arguments->output, "The archive to write, usually named .onnxar");
  add_save_options(*verb, arguments->save);
  add_data_dir(*verb, arguments->load);
  arguments->load.foreign_zips = true;
  add_verbosity(*verb, arguments->verbosity);
  verb->footer("Example: onnxar pack model.onnx -o model.onnxar");
  return {verb, [arguments] { return pack(*arguments); }};
}

}  // namespace onnxar::tool
