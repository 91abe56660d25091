// The library's hints in the words of the command line: options and verbs as they are typed.
#pragma once

#include <string>

#include "onnxar/error.h"

namespace onnxar::tool {

/// `--max-expansion 12 allows more`; empty for Hint::none.
std::string in_words(const Advice& advice);

/// `error[zip.entry.overlap] model.onnxar: entry "a" at 0x40: MESSAGE; ADVICE`
std::string line_of(const Error& error);
std::string line_of(const Finding& finding);
/// `MESSAGE; ADVICE`
std::string message_of(const Finding& finding);

}  // namespace onnxar::tool
