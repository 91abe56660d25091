// Parses protobuf's text format.
#include "model/text_parser.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include <optional>
#include <string>
#include <string_view>

#include "archive/model_proof.h"
#include "base/text.h"
#include "model/messages.h"
#include "onnx/sites.h"
#include "onnx/wire.h"
#include "onnxar/error.h"
#include "onnxar/model/model.h"

namespace onnxar {
namespace {

/// Keeps the first fault. Later ones are often consequences of it.
class FirstFault final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_) return;
    // Protobuf's message quotes a word of the text, which may be as long as the file.
    const std::string what = message.size() <= base::longest_quoted ? escaped(message) : base::quoted(message);
    // Protobuf counts from 0, and passes -1 if a fault has no place.
    text_ = line < 0 ? what : base::concat("line ", line + 1, ", column ", column + 1, ": ", what);
  }
  [[nodiscard]] const std::optional<std::string>& text() const noexcept { return text_; }

 private:
  std::optional<std::string> text_;
};

std::vector<std::byte> parse_text(Bytes text) {
  // ArrayInputStream takes the size as an int.
  if (!fits_protobuf(text.size())) {
    throw Error(Code::onnx_model_too_large, base::concat(oversize_text("the text is", text.size()),
                                                         "; keep large tensors in a data file beside it"));
  }
  // Editors on Windows write a byte order mark, which protobuf's tokenizer rejects.
  if (as_text(text).starts_with(base::byte_order_mark)) text = text.subspan(base::byte_order_mark.size());
  const google::protobuf::LogSilencer silent;
  google::protobuf::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  google::protobuf::TextFormat::Parser parser;
  FirstFault fault;
  parser.RecordErrorsTo(&fault);
  parser.SetRecursionLimit(static_cast<int>(onnx::most_nested_messages));
  schema::ModelProto proto;
  if (!parser.Parse(&input, &proto)) {
    throw Error(Code::onnx_text_syntax, fault.text().value_or("protobuf cannot parse the text"));
  }
  return serialised(proto);
}

}  // namespace

TextParser text_parser() { return parse_text; }

LoadOptions with_text_parser(const LoadOptions& options) {
  LoadOptions with = options;
  if (!with.text_parser) with.text_parser = text_parser();
  return with;
}

}  // namespace onnxar
