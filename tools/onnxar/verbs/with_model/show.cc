// Summarises a model, for the verb `show`.
#include <charconv>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "archive/front_end.h"
#include "html/page.h"
#include "inspect/inspection.h"
#include "shell/addresses.h"
#include "shell/exit_code.h"
#include "shell/model_text.h"
#include "shell/options.h"
#include "shell/paths.h"
#include "shell/report.h"
#include "shell/verbs.h"
#include "verbs/with_model/show_json.h"
#include "verbs/with_model/show_text.h"

namespace onnxar::tool {
namespace {

struct ShowArguments {
  std::filesystem::path model, html;
  InspectOptions options;
  OutputOptions output;
  bool json = false;
  std::vector<std::string> dims;
  Verbosity verbosity;
};

using Sizes = std::vector<std::pair<std::string, std::int64_t>>;

/// Adds `batch=1` to `sizes`. Returns true if the text has this form.
bool add_dimension(Sizes& sizes, const std::string& text) {
  const std::size_t equals = text.rfind('=');
  const std::string number = equals == std::string::npos ? "" : text.substr(equals + 1);
  std::int64_t size = -1;
  const auto [end, failed] = std::from_chars(number.data(), number.data() + number.size(), size);
  if (number.empty() || failed != std::errc() || end != number.data() + number.size()) return false;
  sizes.emplace_back(text.substr(0, equals), size);
  return true;
}

/// Adds `batch=1,sequence=128`. PyTorch has dimensions such as `Max(1, s0)`, so only a comma after a size ends a pair.
/// Throws usage.argument.
void add_dimensions(Sizes& sizes, const std::string& text) {
  std::size_t begin = 0;
  for (std::size_t comma = text.find(','); comma != std::string::npos; comma = text.find(',', comma + 1)) {
    if (add_dimension(sizes, text.substr(begin, comma - begin))) begin = comma + 1;
  }
  if (!add_dimension(sizes, text.substr(begin))) {
    throw Error(Code::usage_argument, "`" + escaped(text.substr(begin)) + "` is not NAME=SIZE, such as batch=1");
  }
}

void expect_different(const std::filesystem::path& input, const std::filesystem::path& output) {
  std::error_code ignored;  // one of them is not there
  if (!std::filesystem::equivalent(input, output, ignored)) return;
  throw Error(Code::usage_argument, "the output is the input, which would be lost; choose another name", {}, output);
}

int show(ShowArguments& arguments) {
  expect_different(arguments.model, arguments.html);
  for (const std::string& text : arguments.dims) add_dimensions(arguments.options.dims, text);
  // The map of the files needs a block for each entry and tensor, which the text does not show.
  arguments.options.files = !arguments.html.empty() || arguments.json;
  const Inspection inspection = onnxar::show(arguments.model, arguments.options);
  const std::string path = utf8_of(arguments.model);
  print_remarks(inspection.remarks, arguments.verbosity);
  if (!arguments.html.empty()) {
    write_file(arguments.html, as_bytes(html::page(inspection, path)), arguments.output);
  } else if (arguments.json) {
    print(inspection_as_json(inspection, path, arguments.options.nodes));
  } else if (arguments.options.nodes) {
    print_nodes(inspection);
  } else {
    print_inspection(inspection, path);
  }
  return exit_code::done;
}

}  // namespace

Verb add_show(CLI::App& app) {
  auto arguments = std::make_shared<ShowArguments>();
  CLI::App* verb = app.add_subcommand("show", "Summarise a model: graph, operators, tensors, cost, storage");
  add_model(*verb, arguments->model);
  auto* nodes = verb->add_flag("--nodes", arguments->options.nodes, "List the nodes, one per line");
  verb->add_option("--op", arguments->options.op, "List only the nodes of this operator")
      ->type_name("OP")
      ->needs(nodes);
  verb->add_option("--dim", arguments->dims,
                   "Count the cost for these sizes: batch=1,sequence=128; x[0]=1 for a dimension of x without a name")
      ->type_name("NAME=SIZE")
      ->allow_extra_args(false);
  auto* json = verb->add_flag("--json", arguments->json, "As JSON; --nodes adds the nodes");
  writes_file(add_path(*verb, "--html", arguments->html, "Write a self-contained page, with a map of the file")
                  ->excludes(json)
                  ->excludes(nodes));
  add_overwrite(*verb, arguments->output);
  arguments->options.load = load_options();
  add_graph(*verb, arguments->options.load.graph, "Summarise this graph of an archive");
  add_data_dir(*verb, arguments->options.load);
  add_timeout(*verb);
  add_verbosity(*verb, arguments->verbosity);
  verb->footer("Example: onnxar show --nodes --op Conv model.onnxar");
  return {verb, [arguments] { return show(*arguments); }};
}

}  // namespace onnxar::tool
