// Cuts an interrupted edit off an archive, for the verb `recover`.
#include <iostream>
#include <memory>

#include "onnxar/archive_writer.h"
#include "shell/exit_code.h"
#include "shell/options.h"
#include "shell/report.h"
#include "shell/verbs.h"

namespace onnxar::tool {
namespace {

struct RecoverArguments {
  std::filesystem::path archive;
  OutputOptions options;
  Verbosity verbosity;
};

int recover(const RecoverArguments& arguments) {
  const EarlierState state = onnxar::recover(arguments.archive, arguments.options);
  if (arguments.verbosity.quiet) return exit_code::done;
  // Not an error: the archive is in the state that the caller wants.
  if (state.size == state.file_size) {
    std::cerr << "complete, nothing to cut: " << escaped_path(arguments.archive) << '\n';
  } else {
    print_cut(state, arguments.options.dry_run, arguments.archive);
  }
  return exit_code::done;
}

}  // namespace

Verb add_recover(CLI::App& app) {
  auto arguments = std::make_shared<RecoverArguments>();
  CLI::App* verb =
      app.add_subcommand("recover", "Cut off the remains of an interrupted edit, to restore the state before it");
  add_file(*verb, "ARCHIVE", arguments->archive, "An archive that other verbs report as torn");
  verb->add_flag("-f,--force", arguments->options.overwrite, "Also cut off complete edits that are damaged");
  add_cut_options(*verb, arguments->options);
  add_verbosity(*verb, arguments->verbosity);
  verb->footer("Example: onnxar recover -n model.onnxar; onnxar recover model.onnxar");
  return {verb, [arguments] { return recover(*arguments); }};
}

}  // namespace onnxar::tool
