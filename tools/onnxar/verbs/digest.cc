// Prints the digest of an archive's content, for the verb `digest`.
#include <iostream>
#include <memory>

#include "onnxar/listing.h"
#include "shell/addresses.h"
#include "shell/exit_code.h"
#include "shell/json.h"
#include "shell/options.h"
#include "shell/paths.h"
#include "shell/progress_line.h"
#include "shell/report.h"
#include "shell/verbs.h"
#include "verbs/digest_json.h"

namespace onnxar::tool {
namespace {

struct DigestArguments {
  std::filesystem::path archive;
  DigestOptions options;
  bool list = false;
  bool json = false;
  Verbosity verbosity;
};

int print_digest(DigestArguments& arguments) {
  const Archive archive = open_archive(arguments.archive);
  const Digest found = with_progress("hashing", arguments.verbosity, arguments.options.progress,
                                     [&] { return digest(archive, arguments.options); });
  if (arguments.json) {
    print({{"path", utf8_of(arguments.archive)}, {"sha256", found.hex}, {"entries", found.entries}});
  } else if (arguments.list) {
    std::cout << found.manifest();  // rule N14 leaves no character that a terminal would obey
  } else {
    std::cout << found.hex << '\n';
  }
  return exit_code::done;
}

}  // namespace

Verb add_digest(CLI::App& app) {
  auto arguments = std::make_shared<DigestArguments>();
  CLI::App* verb = app.add_subcommand("digest", "Print the SHA-256 of all names and bytes in an archive");
  add_file(*verb, "ARCHIVE", arguments->archive, "An archive");
  auto* list = verb->add_flag("--list", arguments->list,
                              "Print the lines whose SHA-256 is the digest: one for each entry, as `sha256sum` does");
  verb->add_flag("--json", arguments->json, "As JSON")->excludes(list);
  add_threads(*verb, arguments->options.threads);
  add_timeout(*verb);
  verb->add_flag("-q,--quiet", arguments->verbosity.quiet, "Show no progress");
  verb->footer("Example: onnxar digest --list model.onnxar | (cd unzipped && sha256sum -c)");
  return {verb, [arguments] { return print_digest(*arguments); }};
}

}  // namespace onnxar::tool
