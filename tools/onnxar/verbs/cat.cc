// Writes an entry or a tensor to standard output, for the verb `cat`.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/archive.h"
#include "shell/addresses.h"
#include "shell/exit_code.h"
#include "shell/options.h"
#include "shell/progress_line.h"
#include "shell/report.h"
#include "shell/standard_streams.h"
#include "shell/terminal.h"
#include "shell/verbs.h"

namespace onnxar::tool {
namespace {

struct CatArguments {
  std::filesystem::path archive;
  std::string name;
  std::string model;  // the name of a graph, or that of the model entry
  Verbosity verbosity;
};

/// Refuses bytes that are not text: a terminal would obey control characters in them.
void expect_printable(Bytes bytes, const CatArguments& arguments) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (is_printable(text)) return;
  throw Error(Code::usage_argument,
              "the entry is not text, and the standard output is a terminal; write it to a file with `> FILE`" +
                  std::string(!arguments.model.empty() ? ", or see `onnxar show` and `onnxar dump`" : ""),
              {arguments.model.empty() ? arguments.name : arguments.model, std::nullopt}, arguments.archive);
}

/// Verifies all bytes before it writes the first one, because a pipe cannot take bytes back. onnxar::cat does not fit:
/// it hands out pieces before it has read the last one, and compares the CRC-32 at the end. Since the file may change
/// after the first pass, the written bytes are verified, too: a small entry is copied first, a large one is compared at
/// its end.
void write_verified(const Archive& archive, const ArchiveEntry& entry, const CatArguments& arguments) {
  constexpr std::uint64_t small = 64U << 20U;
  std::vector<std::byte> copy;
  const bool is_terminal = os::is_terminal(os::Stream::output);
  const bool at_once = entry.size <= small || is_terminal;
  // On a terminal the line would mix with the text.
  ProgressLine line("writing", {.quiet = arguments.verbosity.quiet || is_terminal});
  const ProgressCallback tell = line.callback();
  if (!at_once) archive.verify(entry);
  std::uint64_t done = 0;
  archive.copy(entry, [&](Bytes piece) {
    if (!at_once) {
      write_to_stdout(piece);
      if (tell) tell(done += piece.size(), entry.size);
      return;
    }
    copy.insert(copy.end(), piece.begin(), piece.end());
  });
  if (is_terminal) expect_printable(copy, arguments);
  write_to_stdout(copy);
}

int cat(const CatArguments& arguments) {
  if (arguments.name.empty() && arguments.model.empty()) {
    throw Error(Code::usage_argument, "name an entry, or write --model for the model; `onnxar ls` lists the entries");
  }
  const Archive archive = open_archive(arguments.archive).graph(arguments.model);
  const auto entry = arguments.model.empty() ? archive.find(arguments.name) : archive.model_entry();
  if (!entry) {
    throw Error(Code::usage_no_such_entry, "the archive has no such entry; `onnxar ls` lists the entries",
                {arguments.name, std::nullopt}, arguments.archive);
  }
  write_verified(archive, *entry, arguments);
  return exit_code::done;
}

}  // namespace

Verb add_cat(CLI::App& app) {
  auto arguments = std::make_shared<CatArguments>();
  CLI::App* verb = app.add_subcommand("cat", "Write the bytes of one entry to the standard output");
  add_file(*verb, "ARCHIVE", arguments->archive, "An archive");
  auto* name = verb->add_option("NAME", arguments->name, "The entry's name, as `onnxar ls` shows it");
  // A flag, so that it may precede ARCHIVE; a name needs the `=`.
  verb->add_flag("--model{" + std::string(model_entry_name) + "}", arguments->model,
                 "The ModelProto; --model=NAME: that of another graph")
      ->excludes(name);
  add_timeout(*verb);
  verb->add_flag("-q,--quiet", arguments->verbosity.quiet, "Show no progress");
  verb->footer("Example: onnxar cat model.onnxar --model > skeleton.onnx");
  return {verb, [arguments] { return cat(*arguments); }};
}

}  // namespace onnxar::tool
