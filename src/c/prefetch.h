// Converts ONNXAR_PREFETCH_* to Prefetch.
#pragma once

#include <cstdint>

#include "base/text.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/onnxar_c.h"

namespace onnxar::c {

/// Errors: usage.argument.
inline Prefetch prefetch_of(std::int32_t number) {
  switch (number) {
    case ONNXAR_PREFETCH_NONE: return Prefetch::none;
    case ONNXAR_PREFETCH_WILL_NEED: return Prefetch::will_need;
    case ONNXAR_PREFETCH_POPULATE: return Prefetch::populate;
    default:
      throw Error(Code::usage_argument,
                  base::concat("prefetch is ", number, ", which is not a value of ONNXAR_PREFETCH_*"));
  }
}

}  // namespace onnxar::c
