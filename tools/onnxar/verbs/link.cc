#include "onnxar/link.h"

#include <iostream>
#include <memory>

#include "shell/command.h"
#include "shell/numbers.h"

namespace onnxar::tool {
namespace {

struct LinkArguments {
  std::filesystem::path archive, output, hub;
  LinkOptions options;
  Verbosity verbosity;
};

/// Says which runtimes may refuse the link.
void print_notes(const LinkArguments& arguments, const LinkReport& report) {
  if (report.nested != 0) {
    std::cerr << "onnxar: note: " << counted(report.nested, "linked tensor")
              << " of subgraphs, functions or Constant nodes: some runtimes do not look for external data there; `pack "
                 "--no-subgraphs --no-attributes` keeps such data in the model\n";
  }
  std::error_code ignored;
  if (const auto names = std::filesystem::hard_link_count(arguments.archive, ignored);
      !ignored && names > 1 && arguments.hub.empty()) {
    std::cerr << "onnxar: note: the archive's file has " << names
              << " names (hard links): onnx refuses external data in such files; --hub writes a copy\n";
  }
}

int link(const LinkArguments& arguments) {
  const bool for_hub = !arguments.hub.empty();
  const LinkReport report = for_hub ? link_for_hub(arguments.archive, arguments.hub, arguments.options)
                                    : onnxar::link(arguments.archive, arguments.output, arguments.options);
  if (arguments.verbosity.quiet) return exit_code::done;
  print_notes(arguments, report);
  std::cerr << (arguments.options.output.dry_run ? "would link " : "linked ") << counted(report.tensors, "tensor")
            << " to " << escaped_path(arguments.archive) << ", model " << short_size(report.model_bytes) << ": "
            << escaped_path(for_hub ? arguments.hub / hub_model_name : arguments.output) << '\n';
  return exit_code::done;
}

}  // namespace

Verb add_link(CLI::App& app) {
  auto arguments = std::make_shared<LinkArguments>();
  CLI::App* verb =
      app.add_subcommand("link", "Write a small .onnx whose external data is the archive, for any runtime");
  add_file(*verb, "ARCHIVE", arguments->archive, "The archive to link to; it is not changed");
  auto* where = verb->add_option_group("WHERE", "Beside the archive, or with a copy of it")->require_option(1);
  writes_file(where->add_option("-o,--output", arguments->output,
                                "The .onnx file to write, in the folder of ARCHIVE after symbolic links are resolved"));
  add_path(*where, "--hub", arguments->hub,
           "The folder for a copy of ARCHIVE as model.onnx_data and the link as model.onnx, the names that hubs of "
           "models and their loaders expect")
      ->type_name(value_type::folder);
  add_overwrite(*verb, arguments->options.output);
  add_write_options(*verb, arguments->options.output);
  add_verbosity(*verb, arguments->verbosity);
  // The footer warns of what breaks a link: a runtime does not read the marker that `check` compares.
  verb->footer(
      "ONNX Runtime, onnx and others open the output like any model with external data, and map the weights from "
      "ARCHIVE.\n"
      "The link remains valid after `replace`. `repack`, `undo` and a different archive under ARCHIVE's name break "
      "it.\n"
      "`check` reports a broken link, but a runtime would read wrong weights: make the link again.\n"
      "Example: onnxar link model.onnxar -o model.onnx");
  return {verb, [arguments] { return link(*arguments); }};
}

}  // namespace onnxar::tool
