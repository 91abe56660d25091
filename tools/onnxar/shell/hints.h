// Words the library's hints for the command line, with options and verbs as the user types them.
#pragma once

#include <string>
#include <string_view>

#include "onnxar/error.h"

namespace onnxar::tool {

/// Returns the words for a hint, in which `{}` stands for its value. Safe in signal handlers.
std::string_view words_of(Hint hint) noexcept;
/// Returns `--max-expansion 12 allows more`; an empty text for Hint::none.
std::string in_words(const Advice& advice);

/// Return `error[zip.entry.overlap] model.onnxar: entry "a" at 0x40: MESSAGE; ADVICE`.
std::string line_of(const Error& error);
std::string line_of(const Finding& finding);
/// Returns `MESSAGE; ADVICE`.
std::string message_of(const Finding& finding);

}  // namespace onnxar::tool
