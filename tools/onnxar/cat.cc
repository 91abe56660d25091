#include <memory>

#include "command.h"
#include "onnxar/archive.h"

namespace onnxar::tool {
namespace {

struct CatArguments {
  std::filesystem::path archive;
  std::string name;
  bool model = false;
};

int cat(const CatArguments& arguments) {
  const Archive archive = Archive::open(arguments.archive);
  const auto entry = archive.find(arguments.model ? model_entry_name : arguments.name);
  if (!entry) {
    throw Error(Code::usage_no_such_entry, "the archive has no such entry; `onnxar ls` shows what it has",
                {arguments.name, std::nullopt}, arguments.archive);
  }
  archive.verify(*entry);  // before the first byte goes out: a pipe cannot take bytes back
  write_to_stdout(archive.bytes(*entry));
  return exit_code::done;
}

}  // namespace

Verb add_cat(CLI::App& app) {
  auto arguments = std::make_shared<CatArguments>();
  CLI::App* verb = app.add_subcommand("cat", "Write the bytes of one entry to the standard output");
  add_file(*verb, "ARCHIVE", arguments->archive, "An archive");
  auto* which = verb->add_option_group("ENTRY", "Which entry")->require_option(1);
  which->add_option("NAME", arguments->name, "The entry's name, as `onnxar ls` shows it");
  which->add_flag("--model", arguments->model, "The ModelProto");
  verb->footer("Example: onnxar cat model.onnxar --model > skeleton.onnx");
  return {verb, [arguments] { return cat(*arguments); }};
}

}  // namespace onnxar::tool
