#include "onnxar/link.h"

#include <iostream>
#include <memory>

#include "shell/command.h"

namespace onnxar::tool {
namespace {

struct LinkArguments {
  std::filesystem::path archive, output;
  LinkOptions options;
  Verbosity verbosity;
};

int link(const LinkArguments& arguments) {
  const LinkReport report = onnxar::link(arguments.archive, arguments.output, arguments.options);
  if (arguments.verbosity.quiet) return exit_code::done;
  std::cerr << (arguments.options.output.dry_run ? "would link " : "linked ") << report.tensors << " tensors to "
            << escaped_path(arguments.archive) << ", model " << short_size(report.model_bytes) << ": "
            << escaped_path(arguments.output) << '\n';
  return exit_code::done;
}

}  // namespace

Verb add_link(CLI::App& app) {
  auto arguments = std::make_shared<LinkArguments>();
  CLI::App* verb =
      app.add_subcommand("link", "Write a small .onnx whose external data is the archive, for any runtime");
  add_file(*verb, "ARCHIVE", arguments->archive, "The archive to link to; it stays as it is");
  add_output(*verb, arguments->output, "The .onnx file to write, in the folder that ARCHIVE really lies in");
  verb->add_flag("-f,--force", arguments->options.output.overwrite, "Replace an output that exists");
  add_write_options(*verb, arguments->options.output);
  add_verbosity(*verb, arguments->verbosity);
  verb->footer(
      "ONNX Runtime, onnx and others open MODEL.onnx as any model with external data and map the weights out of "
      "ARCHIVE.\n"
      "It goes on to find its weights after `replace`; repack, undo, and writing another archive to ARCHIVE's name "
      "break it.\n"
      "`check MODEL.onnx` says so, but a runtime would read wrong weights: make the link again.\n"
      "Example: onnxar link model.onnxar -o model.onnx");
  return {verb, [arguments] { return link(*arguments); }};
}

}  // namespace onnxar::tool
