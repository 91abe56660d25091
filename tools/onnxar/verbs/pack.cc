// Packs a model into an archive, for the verb `pack`.
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "shell/addresses.h"
#include "shell/exit_code.h"
#include "shell/model_text.h"
#include "shell/numbers.h"
#include "shell/options.h"
#include "shell/pairs.h"
#include "shell/paths.h"
#include "shell/progress_line.h"
#include "shell/report.h"
#include "shell/standard_streams.h"
#include "shell/verbs.h"

namespace onnxar::tool {
namespace {

struct PackArguments {
  std::vector<std::string> models;
  std::filesystem::path output;
  SaveOptions save;
  LoadOptions load = load_options();
  std::string checksum;
  std::vector<std::string> graphs, chosen, add, rename, variants;
  Verbosity verbosity;
};

/// Says what a user may want to know before publishing the archive, and would not find out from its size.
void print_notes(const ConvertReport& report, bool all_sites) {
  if (report.typed_made_raw != 0) {
    std::cerr
        << "onnxar: note: " << counted(report.typed_made_raw, "tensor")
        << " had typed data (such as float_data), which the archive has as raw data: the values are the same, and "
           "`onnxar unpack` writes raw_data\n";
  }
  if (report.reencoded != 0) {
    std::cerr
        << "onnxar: note: " << counted(report.reencoded, "tensor")
        << " had fields in an order or encoding that `onnxar unpack` does not restore: the values are the same, the "
           "bytes of the model are not\n";
  }
  if (report.nested_outside != 0) {
    std::cerr << "onnxar: note: " << counted(report.nested_outside, "tensor")
              << " of subgraphs, functions, node attributes or sparse tensors moved out of the model: the runtime must "
                 "look for external data there, too; --no-attributes and --no-subgraphs"
              << (all_sites ? ", without --all-sites," : "") << " keep them in the model\n";
  }
}

ConvertReport pack_models(const PackArguments& arguments) {
  if (arguments.models.size() == 1 && arguments.graphs.empty()) {
    return convert_input(path_of(arguments.models.front()), arguments.output, arguments.save, arguments.load);
  }
  std::vector<ModelFile> models;
  for (const std::string& model : arguments.models) {
    if (model == "-")
      throw Error(Code::usage_argument, "the standard input cannot be packed together with other models");
    models.push_back({path_of(model)});
  }
  for (const std::string& text : arguments.graphs) {
    auto [name, path] = pair_of(text, "--graph wants NAME=FILE, such as decoder=path/to/model.onnx");
    models.push_back({path_of(path), std::move(name)});
  }
  return onnxar::pack(models, arguments.output, arguments.save, arguments.load);
}

int pack(PackArguments& arguments) {
  if (arguments.models.empty() && arguments.graphs.empty()) {
    throw Error(Code::usage_argument,
                "`pack` needs a MODEL, or graphs with --graph NAME=FILE; `onnxar pack --help` explains it");
  }
  if (arguments.output.empty()) {
    const bool is_one = arguments.models.size() == 1 && arguments.graphs.empty();
    const std::filesystem::path input = is_one ? path_of(arguments.models.front()) : "";
    arguments.output = is_directory(input) ? output_beside_folder(input) : output_beside(input, ".onnx", ".onnxar");
  }
  if (!arguments.checksum.empty()) arguments.save.checksum = Checksum::sha1;
  if (!arguments.chosen.empty()) {
    arguments.load.graph = arguments.chosen.front();
    arguments.load.further_graphs.assign(arguments.chosen.begin() + 1, arguments.chosen.end());
  }
  for (const std::string& text : arguments.add) arguments.save.add.push_back(added_file(text));
  arguments.save.rename = renamed_entries(arguments.rename);
  arguments.save.variants = graph_variants(arguments.variants);
  const ConvertReport report = with_progress("packing", arguments.verbosity, arguments.save.progress,
                                             [&arguments] { return pack_models(arguments); });
  print_remarks(report.remarks, arguments.verbosity);
  if (arguments.verbosity.quiet) return exit_code::done;
  print_notes(report, arguments.save.all_sites);
  std::cerr << (arguments.save.output.dry_run ? "would pack " : "packed ") << counted(report.tensors_outside, "tensor")
            << " into " << counted(report.payloads, "entry", "entries") << " (" << short_size(report.payload_bytes)
            << "), " << (report.side_files == 0 ? "" : counted(report.side_files, "side file") + ", ")
            << (report.graphs == 0 ? "" : counted(report.graphs, "graph") + ", ") << "model "
            << short_size(report.model_bytes) << ", file " << short_size(report.file_bytes)
            << shared_text(report.shared_bytes) << ": " << escaped_path(arguments.output) << '\n';
  return exit_code::done;
}

}  // namespace

Verb add_pack(CLI::App& app) {
  auto arguments = std::make_shared<PackArguments>();
  CLI::App* verb = app.add_subcommand("pack", "Put models and their weights into one archive");
  verb->add_option(
          "MODEL", arguments->models,
          "A .onnx file (data inside or outside), a model as text, an archive, a folder of models at any depth with "
          "their files, or a zip file or folder that another tool exported; the content decides, not the name; - is "
          "the standard input. If there are several, the first becomes the model, and the others become graphs named "
          "after their files; equal weights are stored once")
      ->type_name(value_type::file);
  add_optional_output(
      *verb, arguments->output,
      "The archive to write; by default NAME.onnxar beside the MODEL, if there is only one: a file NAME.onnx "
      "or a folder NAME");
  add_save_options(*verb, arguments->save);
  add_graphs(*verb, arguments->chosen, "Pack only this graph of an archive, or this variant of a package");
  add_data_dir(*verb, arguments->load);
  add_max_expansion(*verb, arguments->load.max_expansion);
  add_choice(*verb, "--checksum", arguments->checksum, {"sha1"}, "Add to each link the SHA-1 of its entry");
  verb->add_option("--graph", arguments->graphs,
                   "Pack another model as a graph of this name; without MODEL, the first --graph is the model")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  add_files(*verb, arguments->add,
            "Put a file that is not a tensor into the archive (tokenizer.json=FILE); NAME.onnx is another graph over "
            "its entries");
  add_rename(*verb, arguments->rename);
  verb->add_option("--exclude", arguments->save.exclude,
                   "Leave out files and folders whose paths in MODEL match this pattern (*, ?, [a-z]; * also "
                   "matches /)")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  verb->add_option("--first", arguments->save.first,
                   "Make this model the first of several; programs that do not know graphs read only the first")
      ->type_name("NAME");
  add_variants(*verb, arguments->variants);
  add_threads(*verb, arguments->save.output.threads);
  // Of the verbs that load models, only this one reads zips of other makers (spec/other-zips.md).
  arguments->load.foreign_zips = true;
  add_timeout(*verb);
  add_verbosity(*verb, arguments->verbosity);
  verb->footer("Example: onnxar pack model.onnx");
  return {verb, [arguments] { return pack(*arguments); }};
}

}  // namespace onnxar::tool
