#include <memory>
#include <vector>

#include "onnxar/archive.h"
#include "shell/command.h"

namespace onnxar::tool {
namespace {

struct CatArguments {
  std::filesystem::path archive;
  std::string name;
  bool model = false;
};

/// Verifies all bytes before it writes the first one, because a pipe cannot take bytes back. onnxar::cat does not fit:
/// it hands out pieces before it has read the last one, and compares the CRC-32 at the end. Since the file may change
/// after the first pass, the written bytes are verified, too: a small entry is copied first, a large one is compared at
/// its end.
void write_verified(const Archive& archive, const ArchiveEntry& entry) {
  constexpr std::uint64_t small = 64U << 20U;
  std::vector<std::byte> copy;
  if (entry.size > small) archive.verify(entry);
  archive.copy(entry, [&](Bytes piece) {
    if (entry.size > small) return write_to_stdout(piece);
    copy.insert(copy.end(), piece.begin(), piece.end());
  });
  write_to_stdout(copy);
}

int cat(const CatArguments& arguments) {
  const Archive archive = Archive::open(arguments.archive);
  const auto entry = archive.find(arguments.model ? model_entry_name : arguments.name);
  if (!entry) {
    throw Error(Code::usage_no_such_entry, "the archive has no such entry; `onnxar ls` lists the entries",
                {arguments.name, std::nullopt}, arguments.archive);
  }
  write_verified(archive, *entry);
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
