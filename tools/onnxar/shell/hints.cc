// Words the library's hints for the command line, with options and verbs as the user types them.
#include "shell/hints.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace onnxar::tool {
namespace {

constexpr std::array rows = {
    std::string_view(),  // Hint::none
#define ONNXAR_HINT(identifier, id, cpp, c, command, python) std::string_view(command),
#include "onnxar/error_hints.inc"
#undef ONNXAR_HINT
};

}  // namespace

std::string_view words_of(Hint hint) noexcept { return rows[static_cast<std::size_t>(hint)]; }

std::string in_words(const Advice& advice) {
  const auto number = static_cast<std::size_t>(advice.hint);
  // A shared library that is newer than this tool may return a hint without a row: the library has words of its own.
  return number < rows.size() ? filled(rows.at(number), advice) : to_string(advice);
}

std::string line_of(const Error& error) {
  const std::string line = error.line(in_words(error.advice()));
  if (tells_kind(error.advice().hint)) return "error: " + line;  // the line has the code behind what the file is
  return "error[" + std::string(id(error.code())) + "] " + line;
}

std::string line_of(const Finding& finding) { return to_string(finding, in_words(finding.advice)); }

std::string message_of(const Finding& finding) {
  const std::string advice = in_words(finding.advice);
  return advice.empty() ? finding.message : finding.message + "; " + advice;
}

}  // namespace onnxar::tool
