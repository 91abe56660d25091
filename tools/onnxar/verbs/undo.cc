// Cuts the last edit off an archive, for the verb `undo`.
#include <memory>

#include "onnxar/archive_writer.h"
#include "shell/exit_code.h"
#include "shell/options.h"
#include "shell/report.h"
#include "shell/verbs.h"

namespace onnxar::tool {
namespace {

struct UndoArguments {
  std::filesystem::path archive;
  OutputOptions options;
  bool force = false;
  Verbosity verbosity;
};

int undo(const UndoArguments& arguments) {
  // A discarded edit cannot be restored, so the verb needs --force; a dry run does not.
  if (!arguments.force && !arguments.options.dry_run) {
    OutputOptions plan = arguments.options;
    plan.dry_run = true;
    static_cast<void>(onnxar::undo(arguments.archive, plan));  // what cannot be undone is not asked about
    throw Error(Code::usage_argument,
                "undo discards the last edit permanently, and readers that have the archive open may fault; --force "
                "confirms it, --dry-run shows what would remain",
                {}, arguments.archive);
  }
  const EarlierState state = onnxar::undo(arguments.archive, arguments.options);
  if (!arguments.verbosity.quiet) print_cut(state, arguments.options.dry_run, arguments.archive);
  return exit_code::done;
}

}  // namespace

Verb add_undo(CLI::App& app) {
  auto arguments = std::make_shared<UndoArguments>();
  CLI::App* verb = app.add_subcommand("undo", "Cut off the last edit of an archive");
  add_file(*verb, "ARCHIVE", arguments->archive, "An archive that was edited, for example by `replace`");
  verb->add_flag("-f,--force", arguments->force, "Discard the edit permanently");
  add_cut_options(*verb, arguments->options);
  add_verbosity(*verb, arguments->verbosity);
  verb->footer("Example: onnxar undo --force model.onnxar");
  return {verb, [arguments] { return undo(*arguments); }};
}

}  // namespace onnxar::tool
