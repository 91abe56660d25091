// Writes links to an archive for runtimes, for the verb `link`.
#include "onnxar/link.h"

#include <iostream>
#include <memory>
#include <vector>

#include "shell/exit_code.h"
#include "shell/numbers.h"
#include "shell/options.h"
#include "shell/report.h"
#include "shell/verbs.h"

namespace onnxar::tool {
namespace {

struct LinkArguments {
  std::filesystem::path archive, output, hub;
  LinkOptions options;
  bool copy = false, move = false;
  Verbosity verbosity;
};

/// Says which runtimes may refuse the links.
void print_notes(const LinkArguments& arguments, const std::vector<LinkReport>& reports) {
  std::uint64_t nested = 0;
  for (const LinkReport& report : reports) nested += report.nested;
  if (nested != 0) {
    std::cerr << "onnxar: note: " << counted(nested, "linked tensor")
              << " of subgraphs, functions, attributes or sparse tensors: some runtimes do not look for external data "
                 "there; `pack --no-subgraphs --no-attributes`, without --all-sites, keeps such data in the model\n";
  }
  std::error_code ignored;
  if (const auto names = std::filesystem::hard_link_count(arguments.archive, ignored);
      !ignored && names > 1 && arguments.hub.empty()) {
    std::cerr << "onnxar: note: the archive's file has " << names
              << " names (hard links): onnx refuses external data in such files; --hub writes a copy\n";
  }
}

std::vector<LinkReport> write_links(const LinkArguments& arguments) {
  if (!arguments.hub.empty()) return {link_for_hub(arguments.archive, arguments.hub, arguments.options)};
  if (!arguments.output.empty()) return {onnxar::link(arguments.archive, arguments.output, arguments.options)};
  if (!arguments.options.graph.empty()) throw Error(Code::usage_argument, "--model needs a name for the link: -o FILE");
  return link_graphs(arguments.archive, arguments.options);
}

/// Prints a line for each link; `archive` returns the path of the file with its weights.
template <typename ArchiveOf>
void print_links(const LinkArguments& arguments, const ArchiveOf& archive, const std::vector<LinkReport>& reports) {
  print_notes(arguments, reports);
  for (const LinkReport& report : reports) {
    print_remarks(report.remarks, arguments.verbosity);
    std::cerr << (arguments.options.output.dry_run ? "would link " : "linked ") << counted(report.tensors, "tensor")
              << " to " << escaped_path(archive(report)) << ", model " << short_size(report.model_bytes) << ": "
              << escaped_path(report.path) << '\n';
  }
}

int link_folder(const LinkArguments& arguments) {
  if (!arguments.options.graph.empty()) throw Error(Code::usage_argument, "--model needs a file for the link: -o FILE");
  const ArchivePlace place = arguments.copy   ? ArchivePlace::copied
                             : arguments.move ? ArchivePlace::moved
                                              : ArchivePlace::automatic;
  const FolderLinkReport report = onnxar::link_folder(arguments.archive, arguments.output, arguments.options, place);
  if (arguments.verbosity.quiet) return exit_code::done;
  const auto archive_of = [&](const LinkReport& link) {
    return report.copies < report.links.size() ? report.archive : link.path.parent_path() / report.archive.filename();
  };
  print_links(arguments, archive_of, report.links);
  const std::string_view would = arguments.options.output.dry_run ? "would write " : "wrote ";
  print_remarks(report.remarks, arguments.verbosity);
  if (report.copies != 0) {
    std::cerr << would << counted(report.copies, "copy", "copies") << " of the archive"
              << (report.shares_blocks ? " (shared blocks)" : "") << '\n';
  }
  if (report.side_files != 0) std::cerr << would << counted(report.side_files, "side file") << '\n';
  if (report.beside.empty()) return exit_code::done;
  std::cerr
      << would << counted(report.beside.size(), "link file") << " beside the archive, such as "
      << escaped_path(report.beside.front())
      << "\nonnxar: note: the folder has symbolic links to the archive: ONNX Runtime and GenAI open them, onnx and "
         "onnx_ir refuse them; --copy puts a copy of the archive beside the links\n";
  return exit_code::done;
}

int link(const LinkArguments& arguments) {
  if (!arguments.output.empty() && !arguments.output.has_filename()) return link_folder(arguments);
  if (arguments.copy || arguments.move)
    throw Error(Code::usage_argument, "--copy and --move are for a folder of links: -o FOLDER/");
  const std::vector<LinkReport> reports = write_links(arguments);
  if (!arguments.verbosity.quiet) print_links(arguments, [&](const auto&) { return arguments.archive; }, reports);
  return exit_code::done;
}

}  // namespace

Verb add_link(CLI::App& app) {
  auto arguments = std::make_shared<LinkArguments>();
  CLI::App* verb =
      app.add_subcommand("link", "Write a small .onnx whose external data is the archive, for any runtime");
  add_file(*verb, "ARCHIVE", arguments->archive, "The archive to link to; it is not changed");
  CLI::Option* output = add_optional_output(*verb, arguments->output,
                                            "The .onnx file to write, in the folder of ARCHIVE after symbolic links "
                                            "are resolved; or, if it ends with `/`, a folder for the links of all "
                                            "graphs at their paths and for all side files. By default a link for each "
                                            "graph is written beside ARCHIVE, named after the graph");
  add_path(*verb, "--hub", arguments->hub,
           "The folder for a copy of ARCHIVE as model.onnx_data and the link as model.onnx, the names that model hubs "
           "and their loaders expect")
      ->type_name(value_type::folder)
      ->excludes(output);
  CLI::Option* copy =
      verb->add_flag("--copy", arguments->copy,
                     "Put a copy of ARCHIVE into each folder of -o FOLDER/ that has links, for programs "
                     "that refuse symbolic links, such as onnx");
  verb->add_flag("--move", arguments->move, "Move ARCHIVE into -o FOLDER/, beside the links if all are in one folder")
      ->excludes(copy);
  add_graph(*verb, arguments->options.graph, "Link this graph of the archive");
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
