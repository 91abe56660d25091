// Opens archives that are named by a path or an address.
#include "shell/addresses.h"

#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

#include "onnxar/error.h"
#include "onnxar/remote.h"
#include "shell/progress_line.h"

namespace onnxar::tool {
namespace {

// Set while the arguments are parsed.
std::chrono::milliseconds limit(30000);
bool quiet = false;

/// Sets the limit. Returns an error text if the text is not a number of seconds. CLI11's own validator would let NaN
/// pass.
std::string take_timeout(const std::string& text) {
  constexpr double most = 1e6;  // eleven days
  // std::from_chars of libc++ takes no fractions, and std::strtod takes much else.
  const bool is_decimal = text.find_first_not_of("0123456789.") == std::string::npos;
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (!is_decimal || text.empty() || *end != '\0' || seconds > most) {
    return "`" + escaped(text) + "` is not a number of seconds from 0 to 1000000, such as 10 or 0.5";
  }
  // Rounded up: a tiny limit must not become 0, which is none.
  limit = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
  return {};
}

}  // namespace

void add_timeout(CLI::App& verb) {
  verb.add_option("--timeout", "Give up on a server that sends less than 1 KiB/s for this long; 0: never")
      ->check(CLI::Validator(take_timeout, ""))
      ->type_name("SECONDS")
      ->default_str("30");
  verb.parse_complete_callback([&verb] {
    const CLI::Option* const option = verb.get_option_no_throw("--quiet");
    quiet = option != nullptr && option->count() != 0;
  });
}

std::chrono::milliseconds timeout() noexcept { return limit; }

bool waits_quietly() noexcept { return quiet; }

Archive open_archive(const std::filesystem::path& path) {
  auto file = address_opener()(path);
  return file ? Archive::open(std::move(file)) : Archive::open(path);
}

/// The options of the environment and of the command line.
RemoteOptions remote_options() {
  RemoteOptions options = remote_options_of_environment();
  options.connect_timeout = options.stall_timeout = timeout();
  if (!waits_quietly()) options.waiting = show_waiting;
  return options;
}

RangesOpener address_opener() {
  // Verbs ask for it before the arguments are parsed.
  return [](const std::filesystem::path& path) { return remote_files(remote_options())(path); };
}

}  // namespace onnxar::tool
