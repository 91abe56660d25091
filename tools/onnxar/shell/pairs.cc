// Adds options that take LEFT=RIGHT, and parses them.
#include "shell/pairs.h"

#include "shell/paths.h"

namespace onnxar::tool {

std::pair<std::string, std::string> pair_of(const std::string& text, const std::string& wanted) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
    throw Error(Code::usage_argument, wanted + ", not `" + escaped(text) + "`");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

CLI::Option* add_files(CLI::App& verb, std::vector<std::string>& files, const std::string& description) {
  // One value each: CLI11 would otherwise take the words after the value as more values, up to the model.
  return verb.add_option("--add", files, description)->type_name("NAME=FILE")->allow_extra_args(false);
}

AddedFile added_file(const std::string& text) {
  auto [name, path] = pair_of(text, "--add wants NAME=FILE, such as tokenizer.json=path/to/tokenizer.json");
  return {std::move(name), path_of(path)};
}

CLI::Option* add_rename(CLI::App& verb, std::vector<std::string>& rename) {
  // One value each, as above.
  return verb.add_option("--rename", rename, "Rename an entry that no tensor refers to; OLD ends at the first =")
      ->type_name("OLD=NEW")
      ->allow_extra_args(false);
}

CLI::Option* add_variants(CLI::App& verb, std::vector<std::string>& variants) {
  return verb
      .add_option("--variant", variants,
                  "Record in the archive's manifest.json, for ONNX Runtime's model packages, that this graph is "
                  "for an execution provider (cpu, cuda, openvino ... or a whole name), and for a device: cpu, gpu or "
                  "npu. Of graphs that fit equally well, the first is chosen")
      ->type_name("GRAPH=EP[:DEVICE]")
      ->allow_extra_args(false);
}

std::vector<GraphVariant> graph_variants(const std::vector<std::string>& variants) {
  std::vector<GraphVariant> parsed;
  for (const std::string& text : variants) {
    const std::string wanted = "--variant wants GRAPH=EP or GRAPH=EP:DEVICE, such as int8=cuda:gpu";
    auto [graph, ep] = pair_of(text, wanted);
    const std::size_t colon = ep.find(':');
    if (colon == 0 || colon + 1 == ep.size())
      throw Error(Code::usage_argument, wanted + ", not `" + escaped(text) + "`");
    std::string device = colon == std::string::npos ? std::string() : ep.substr(colon + 1);
    parsed.push_back({std::move(graph), ep.substr(0, colon), std::move(device)});
  }
  return parsed;
}

std::vector<RenamedEntry> renamed_entries(const std::vector<std::string>& rename) {
  std::vector<RenamedEntry> entries;
  for (const std::string& text : rename) {
    auto [from, to] = pair_of(text, "--rename wants OLD=NEW, such as nul.txt=notes.txt");
    entries.push_back({std::move(from), std::move(to)});
  }
  return entries;
}

}  // namespace onnxar::tool
