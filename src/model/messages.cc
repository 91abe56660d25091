// Converts protobuf messages to and from bytes and text, and visits the messages within them.
#include "model/messages.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "archive/access.h"
#include "base/errors.h"
#include "base/text.h"
#include "model/front_end.h"
#include "onnx/sites.h"
#include "onnxar/error.h"
#include "onnxar/model/model.h"

namespace onnxar {

void parse(schema::ModelProto& proto, Bytes skeleton, std::size_t max_depth) {
  // Protobuf takes the size as an int. The size may come from a file, so the cast below must not be trusted to fit.
  if (!fits_protobuf(skeleton.size())) {
    throw Error(Code::onnx_model_too_large, oversize_text("without its large tensors it is", skeleton.size()), {}, {},
                {Hint::lower_threshold});
  }
  const google::protobuf::LogSilencer silent;  // protobuf's debug builds report names that are not UTF-8 on stderr
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const std::uint8_t*>(skeleton.data()),
                                               static_cast<int>(skeleton.size()));
  // The wire layer has walked the messages that lead to tensors. Others, such as nested types, only protobuf descends
  // into.
  input.SetRecursionLimit(static_cast<int>(onnx::allowed_depth(max_depth)));
  if (proto.ParsePartialFromCodedStream(&input) && input.ConsumedEntireMessage()) return;
  throw Error(Code::onnx_model_invalid, "protobuf cannot parse the model: a message in it is damaged", {}, {},
              {Hint::get_model_again});
}

std::vector<std::byte> serialised(const google::protobuf::MessageLite& message) {
  const google::protobuf::LogSilencer silent;  // as in `parse`
  std::vector<std::byte> bytes(message.ByteSizeLong());
  // This is protobuf's own limit. A skeleton reaches it only if messages hold data that should be payloads.
  if (!fits_protobuf(bytes.size()) || !message.SerializePartialToArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw Error(Code::onnx_model_too_large, oversize_text("the message is", bytes.size()), {}, {},
                {Hint::set_large_payloads});
  }
  return bytes;
}

void for_each_message(const google::protobuf::Message& message,
                      const std::function<void(const google::protobuf::Message&)>& visit) {
  visit(message);
  const auto& reflection = *message.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const auto* field : fields) {
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      for_each_message(reflection.GetMessage(message, field), visit);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      for_each_message(reflection.GetRepeatedMessage(message, field, i), visit);
    }
  }
}

TensorInfo info_of(const schema::TensorProto& tensor, std::string site) {
  return {tensor.name(), type_of(tensor), {tensor.dims().begin(), tensor.dims().end()}, std::move(site)};
}

std::string_view location_of(const schema::TensorProto& tensor) {
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") return entry.value();
  }
  return {};
}

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

std::vector<std::byte> parse_text(Bytes text, std::size_t max_depth) {
  // ArrayInputStream takes the size as an int.
  if (!fits_protobuf(text.size())) {
    throw Error(Code::onnx_model_too_large, base::concat(oversize_text("the text is", text.size()),
                                                         "; keep large tensors in a data file beside it"));
  }
  // Editors on Windows write a byte order mark, which protobuf's tokenizer rejects.
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (as_text(text).starts_with(byte_order_mark)) text = text.subspan(byte_order_mark.size());
  const google::protobuf::LogSilencer silent;
  google::protobuf::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  google::protobuf::TextFormat::Parser parser;
  FirstFault fault;
  parser.RecordErrorsTo(&fault);
  parser.SetRecursionLimit(static_cast<int>(onnx::allowed_depth(max_depth)));
  schema::ModelProto proto;
  if (!parser.Parse(&input, &proto)) {
    throw Error(Code::onnx_text_syntax, fault.text().value_or("protobuf cannot parse the text"));
  }
  return serialised(proto);
}

}  // namespace

TextParser text_parser(std::size_t max_depth) {
  return [max_depth](Bytes text) { return parse_text(text, max_depth); };
}

std::string shape_text(const std::vector<Dimension>& dims, const std::function<std::string(const std::string&)>& name) {
  base::check_callable(name, "the function for names of dimensions");
  std::string text;
  for (const Dimension& dim : dims) {
    text += base::concat(text.empty() ? "" : ",", dim.value          ? std::to_string(*dim.value)
                                                  : dim.name.empty() ? "?"
                                                                     : name(dim.name));
  }
  return base::concat("[", text, "]");
}

}  // namespace onnxar
