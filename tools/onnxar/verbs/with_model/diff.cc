// Prints what differs between two models, for the verb `diff`.
#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>

#include "model/front_end.h"
#include "onnxar/remote.h"
#include "shell/addresses.h"
#include "shell/exit_code.h"
#include "shell/json.h"
#include "shell/model_text.h"
#include "shell/numbers.h"
#include "shell/options.h"
#include "shell/progress_line.h"
#include "shell/report.h"
#include "shell/verbs.h"
#include "verbs/with_model/diff_json.h"

namespace onnxar::tool {
namespace {

struct DiffArguments {
  std::filesystem::path before, after;
  LoadOptions load;
  bool json = false;
  bool bytes = false;
  Verbosity verbosity;
};

const std::string& name_of(const TensorChange& change) { return (change.before ? change.before : change.after)->name; }

void print_json(const Difference& difference) {
  Json document;
  document["same"] = difference.none();
  document["graph"] = difference.graph;
  document["tensors"] = difference.tensors;
  document["files"] = difference.files;
  document["compared"] = difference.compared;
  print(document);
}

/// Prints `changed graph.node[3].attr.strides.ints (conv1): `.
void print_head(Change change, const std::string& site, const std::string& name) {
  std::cout << to_string(change) << ' ' << escaped(site);
  if (!name.empty()) std::cout << " (" << escaped(name) << ')';
  std::cout << ": ";
}

void print_line(const GraphChange& change) {
  print_head(change.change, change.site, change.name);
  std::cout << escaped(change.before) << (change.change == Change::changed ? " -> " : "") << escaped(change.after)
            << '\n';
}

std::string text_of(const TensorInfo& tensor, std::uint64_t bytes) {
  return to_string(tensor.type) + shape_text(tensor.dims) + ", " + std::to_string(bytes) + " bytes";
}

std::string text_of(const DataDifference& data) {
  std::ostringstream text;
  text << data.differing << " of " << data.elements << " elements differ, the first is " << data.first;
  if (data.max_absolute) text << "; at most " << *data.max_absolute << ", relatively " << *data.max_relative;
  if (data.not_finite != 0) text << "; " << data.not_finite << " are infinite or NaN";
  return text.str();
}

void print_line(const TensorChange& change) {
  print_head(change.change, change.site, name_of(change));
  if (change.data) {
    std::cout << text_of(*change.data) << '\n';
    return;
  }
  if (change.before) std::cout << text_of(*change.before, change.bytes_before);
  if (change.change == Change::changed) std::cout << " -> ";
  if (change.after) std::cout << text_of(*change.after, change.bytes_after);
  std::cout << '\n';
}

void print_line(const FileChange& file) {
  std::cout << to_string(file.change) << " file " << escaped(file.name) << ": ";
  if (file.change != Change::added) std::cout << file.bytes_before << " bytes";
  if (file.change == Change::changed) std::cout << " -> ";
  if (file.change != Change::removed) std::cout << file.bytes_after << " bytes";
  if (file.change == Change::changed) {
    const bool same_bytes = file.first == file.bytes_before && file.first == file.bytes_after;
    std::cout << (same_bytes ? ", of other data" : ", the first that differs is " + std::to_string(file.first));
  }
  std::cout << '\n';
}

void print_json(const UpdatePlan& plan, bool same) {
  Json document;
  document["same"] = same;
  document["file_bytes"] = plan.file_bytes;
  document["download_bytes"] = plan.downloaded_bytes;
  document["entries"] = Json::array();
  for (const UpdatedEntry& entry : plan.entries)
    document["entries"].push_back({{"name", entry.name}, {"bytes", entry.bytes}, {"reused", entry.reused}});
  print(document);
}

/// Prints what an update from the first archive to the second one downloads.
int compare_bytes(const DiffArguments& arguments) {
  const UpdatePlan plan = plan_update(open_archive(arguments.before), open_archive(arguments.after));
  const auto reused = std::ranges::count(plan.entries, true, &UpdatedEntry::reused);
  const bool same = static_cast<std::size_t>(reused) == plan.entries.size();
  if (arguments.json) {
    print_json(plan, same);
  } else {
    for (const UpdatedEntry& entry : plan.entries) {
      if (!entry.reused) std::cout << "download " << escaped(entry.name) << ": " << entry.bytes << " bytes\n";
    }
  }
  if (!arguments.verbosity.quiet) {
    std::cerr << "an update downloads " << short_size(plan.downloaded_bytes) << " of " << short_size(plan.file_bytes)
              << ", and reuses " << reused << " of " << counted(plan.entries.size(), "entry", "entries") << '\n';
  }
  return same ? exit_code::done : exit_code::found;
}

int compare(const DiffArguments& arguments) {
  if (arguments.bytes) return compare_bytes(arguments);
  ProgressCallback progress;
  const Difference difference = with_progress("comparing", arguments.verbosity, progress, [&] {
    return diff(arguments.before, arguments.after, arguments.load, progress);
  });
  if (arguments.json) {
    print_json(difference);
  } else {
    for (const GraphChange& change : difference.graph) print_line(change);
    for (const TensorChange& change : difference.tensors) print_line(change);
    for (const FileChange& file : difference.files) print_line(file);
  }
  if (!arguments.verbosity.quiet) {
    std::cerr << (difference.none() ? "the same" : "different") << ": " << difference.graph.size()
              << " changes of the graph, " << difference.tensors.size() << " of tensors, " << difference.files.size()
              << " of side files, " << counted(difference.compared, "tensor") << " compared\n";
  }
  // As diff(1) does: a difference is a result and not a failure.
  return difference.none() ? exit_code::done : exit_code::found;
}

}  // namespace

Verb add_diff(CLI::App& app) {
  auto arguments = std::make_shared<DiffArguments>();
  CLI::App* verb = app.add_subcommand("diff", "Compare two models: graph and tensors");
  add_model(*verb, arguments->before, "A");
  add_file(*verb, "B", arguments->after, "The model to compare with, in any form");
  verb->add_flag("--json", arguments->json, "As JSON");
  CLI::Option* bytes = verb->add_flag("--bytes", arguments->bytes,
                                      "Say what `get --reuse A` would download of the archive B, without reading data");
  arguments->load = load_options();
  add_graph(*verb, arguments->load.graph, "Compare this graph of the archives, or of the one that is an archive")
      ->excludes(bytes);
  add_max_expansion(*verb, arguments->load.max_expansion);
  add_path(*verb, "--data-dir", arguments->load.external_data_dir,
           "Look for the external data of both models here, not in their folders")
      ->type_name(value_type::folder);
  add_timeout(*verb);
  add_verbosity(*verb, arguments->verbosity);
  verb->footer(
      "Exit: 0 the same, 1 different. Nodes are matched by name, else by outputs. The location of data is ignored. "
      "Side files and graphs are compared if both models are archives; `--model` shows what differs in a "
      "graph.\nExample: onnxar diff model.onnx model.onnxar");
  return {verb, [arguments] { return compare(*arguments); }};
}

}  // namespace onnxar::tool
