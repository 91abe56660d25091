// What to do about an error, in words of the C interface.
#pragma once

#include <string>

#include "onnxar/error.h"

namespace onnxar::c {

/// The advice in words of C; empty for Hint::none.
std::string words_of(const Advice& advice);

/// `message; words`, or `message` alone if there are no words.
std::string with_advice(const std::string& message, const std::string& words);

}  // namespace onnxar::c
