// A file as a picture: its bytes in rows, to scale.
#pragma once

#include <string>

#include "onnxar/model/inspect.h"

namespace onnxar {

/// `text` escaped for a terminal and for HTML.
std::string html_text(std::string_view text);
/// `1 234 567`
std::string grouped(std::uint64_t number);

/// An `<svg>` with a `<rect>` for each row that a block goes through, and a legend below it.
std::string html_map(const FileMap& map);

}  // namespace onnxar
