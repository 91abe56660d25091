// JSON on stdout.
#pragma once

#include <iostream>
#include <nlohmann/json.hpp>

namespace onnxar::tool {

/// Keys stay in the order in which they were put in.
using Json = nlohmann::ordered_json;

/// Names of tensors may be any bytes; what is not UTF-8 becomes U+FFFD.
inline void print(const Json& document) {
  std::cout << document.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace onnxar::tool
