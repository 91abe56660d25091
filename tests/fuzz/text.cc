// Parses any bytes as protobuf's text format. They are refused with a line and column, or give a message that prints,
// parses again to the same bytes, and does not depend on the limit of depth.
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/fuzz.h"
#include "fuzz/scratch.h"
#include "model/front_end.h"

namespace onnxar::fuzz::text_target {
namespace {

using Blob = std::vector<std::byte>;

std::optional<Blob> parsed(Bytes text) {
  try {
    return text_parser()(text);
  } catch (const Error& error) {
    require(kind(error.code()) == Kind::format, std::string("a text is refused for its format: ") + error.what());
    require(escaped(error.message()) == error.message() || error.message().find('\\') != std::string_view::npos,
            "a message has no control characters");
    return std::nullopt;
  }
}

std::optional<std::string> printed(const Blob& model) {
  const auto path = put("m.onnx", model);
  std::string text;
  const auto append = [&text](Bytes piece) { text += as_text(piece); };
  const auto print = [&] { return dump(path, append, {.with_data = true}); };
  const auto report = accepted(print);  // external data may be missing, a tensor may be ambiguous
  if (!report || !report->remarks.empty()) return std::nullopt;
  return text;
}

}  // namespace

void run(Bytes input) {
  const auto model = parsed(input);
  if (!model) return;
  const auto text = printed(*model);
  if (!text) return;
  const auto again = parsed(as_bytes(*text));
  require(again.has_value(), "what was printed can be parsed");
  const auto text_again = printed(*again);
  require(text_again == text, "what was parsed prints as before");
}

}  // namespace onnxar::fuzz::text_target
