// Escapes text for HTML, and groups the digits of numbers.
#include "html/markup.h"

#include "onnxar/error.h"
#include "shell/numbers.h"

namespace onnxar::tool::html {

std::string escaped_text(std::string_view text) {
  std::string out;
  // Names come from models of strangers. Control and bidirectional characters go first, then markup; both quotes are
  // replaced, so that the text is safe in attributes as well.
  for (const char c : escaped(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string grouped(std::uint64_t number) { return tool::grouped(number, " "); }

}  // namespace onnxar::tool::html
