// Finds verbs and options by their names.
#include "shell/verb_names.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "onnxar/error.h"
#include "shell/near_words.h"

namespace onnxar::tool {
namespace {

/// Leaves out option groups, which CLI11 represents as subcommands without a name.
std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* verb) { return !verb->get_name().empty(); });
}

constexpr std::array<std::string_view, 3> verbs_of_python = {"cache", "sign", "verify"};

}  // namespace

const CLI::App& expect_verb(const CLI::App& app, const std::string& name) {
  const auto verbs = verbs_of(app);
  const auto found = std::ranges::find(verbs, name, [](const CLI::App* verb) { return verb->get_name(); });
  if (found != verbs.end()) return **found;
  if (std::ranges::find(verbs_of_python, name) != verbs_of_python.end()) {
    throw Error(Code::usage_argument,
                "only the Python package has the verb `" + name + "`; run `onnxar-py " + name + "`");
  }
  std::vector<std::string> names;
  for (const CLI::App* verb : verbs) names.push_back(verb->get_name());
  throw Error(Code::usage_argument,
              "unknown verb `" + escaped(name) + "`" + did_you_mean(name, names) + "; `onnxar --help` lists the verbs");
}

std::vector<std::string> option_names(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const CLI::App* group : verb.get_subcommands([](const CLI::App*) { return true; })) {
    const auto more = option_names(*group);
    names.insert(names.end(), more.begin(), more.end());
  }
  return names;
}

}  // namespace onnxar::tool
