// What to do about an error, in words of the C interface.
#pragma once

#include <string>

#include "onnxar/error.h"

namespace onnxar::c {

/// The advice; empty if there is none.
std::string words_of(const Advice& advice);

/// `message`, and what to do.
std::string with_advice(const std::string& message, const std::string& words);

}  // namespace onnxar::c
