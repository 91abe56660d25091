// onnxar: one verb a file, each a thin cover of one library function.
#include <algorithm>
#include <array>
#include <exception>
#include <iostream>
#include <span>
#include <string>
#include <string_view>

#include "command.h"
#include "onnxar/edit.h"
#include "onnxar/version.h"
#include "os/process.h"

namespace onnxar::tool {
namespace {

/// A mapped file that another process shortens makes the next access to what is gone a SIGBUS. Outputs are nameless
/// until they are whole, and edits are cut off, so ending here leaves nothing behind.
void input_shrank() {
  os::write_error("onnxar: error[io.failed] an input file was shortened while it was read\n");
  abandon_edits();
  os::end_at_once(exit_code::io);
}

std::string exit_codes() {
  std::string text = "Exit:";
  for (std::size_t code = 0; code < exit_code::meanings.size(); ++code) {
    text += "\n    " + std::to_string(code) + " " + std::string(exit_code::meanings.at(code));
  }
  return text;
}

int run_verb(std::span<const Verb> verbs) {
  for (const Verb& verb : verbs) {
    if (verb.app->parsed()) return verb.run();
  }
  return exit_code::usage;
}

/// `code`, once all that was printed has been taken.
int flushed(int code) {
  std::cout.flush();
  if (!std::cout) throw Error(Code::io_failed, "cannot write to the standard output");
  return code;
}

/// CLI11 would only say that a verb is missing.
void refuse_unknown_verb(std::span<const Verb> verbs, std::span<char* const> words) {
  if (words.size() < 2) return;
  const std::string word = words[1];
  const auto is_named = [&word](const Verb& verb) { return verb.app->get_name() == word; };
  if (word.starts_with('-') || std::ranges::any_of(verbs, is_named)) return;
  throw Error(Code::usage_argument, "there is no verb `" + escaped(word) + "`; `onnxar --help` lists the verbs");
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("ONNX archives: one file with a model and its weights, ready to be mapped.", "onnxar");
  app.set_version_flag("--version", std::string("onnxar ") + ONNXAR_VERSION_STRING);
  app.require_subcommand(1);
  app.footer("`onnxar VERB --help` says more of a verb, with an example.\n" + exit_codes());
  const std::array verbs = {add_pack(app),       add_unpack(app), add_ls(app),      add_check(app), add_repack(app),
                            add_replace(app),    add_link(app),   add_recover(app), add_undo(app),  add_cat(app),
                            add_show(app),       add_dump(app),   add_extract(app), add_diff(app),  add_freeze(app),
                            add_completion(app), add_man(app)};
  refuse_unknown_verb(verbs, std::span(argv, static_cast<std::size_t>(argc)));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return flushed(app.exit(error) == 0 ? exit_code::done : exit_code::usage);  // --help ends here, too
  }
  return flushed(run_verb(verbs));
}

/// Errors become messages and exit codes here and nowhere else.
int run(int argc, char** argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (const Error& error) {
    std::cerr << "onnxar: error[" << id(error.code()) << "] " << error.what() << '\n';
    return exit_code_of(error);
  } catch (const std::bad_alloc&) {
    std::cerr << "onnxar: error[io.failed] out of memory\n";
  } catch (const std::exception& error) {
    std::cerr << "onnxar: error[io.failed] " << error.what() << '\n';
  }
  return exit_code::io;
}

}  // namespace
}  // namespace onnxar::tool

int main(int argc, char** argv) {
  onnxar::tool::os::on_mapping_fault(onnxar::tool::input_shrank);
  onnxar::tool::os::on_interrupt([] { onnxar::abandon_edits(); });  // as if the edit had not begun
  return onnxar::tool::run(argc, argv);
}
