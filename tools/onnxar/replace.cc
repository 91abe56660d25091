#include "onnxar/replace.h"

#include <iostream>
#include <memory>

#include "command.h"

namespace onnxar::tool {
namespace {

struct ReplaceArguments {
  std::filesystem::path archive, model;
  ReplaceOptions options;
  LoadOptions load = load_options();
  Verbosity verbosity;
};

int replace(const ReplaceArguments& arguments) {
  const ReplaceReport report = replace_model(arguments.archive, arguments.model, arguments.options, arguments.load);
  print_remarks(report.remarks, arguments.verbosity);
  if (arguments.verbosity.quiet) return exit_code::done;
  std::cerr << (arguments.options.dry_run ? "would replace" : "replaced")
            << " the model: " << short_size(report.model_bytes) << ", " << report.tensors_outside
            << " tensors outside, " << report.entries_added << " new entries (" << short_size(report.bytes_added)
            << "); file " << short_size(report.file_bytes_before) << " -> " << short_size(report.file_bytes) << ": "
            << escaped_path(arguments.archive) << '\n';
  return exit_code::done;
}

}  // namespace

Verb add_replace(CLI::App& app) {
  auto arguments = std::make_shared<ReplaceArguments>();
  CLI::App* verb = app.add_subcommand("replace", "Give an archive another model, in place: no weight is moved");
  add_file(*verb, "ARCHIVE", arguments->archive, "The archive to edit");
  add_file(*verb, "MODEL", arguments->model,
           "The new model: a .onnx file whose links lead to entries of ARCHIVE (as `cat --model` prints one), or "
           "into its file; data inside it that ARCHIVE does not have yet is added. Or another archive");
  verb->add_flag("--append-external", arguments->options.append_external,
                 "Links may lead to data files beside MODEL, too; that data is added");
  add_move_options(*verb, arguments->options);
  add_write_options(*verb, arguments->options);
  add_data_dir(*verb, arguments->load);
  add_max_expansion(*verb, arguments->load.max_expansion);
  add_verbosity(*verb, arguments->verbosity);
  verb->footer("Example: onnxar replace model.onnxar edited.onnx");
  return {verb, [arguments] { return replace(*arguments); }};
}

}  // namespace onnxar::tool
