// Prints a model as text, and lists what the text loses.
#include "model/text_writer.h"

#include <google/protobuf/io/zero_copy_stream.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/graph_rules.h"
#include "archive/tensor_text.h"
#include "base/annotated.h"
#include "base/kept.h"
#include "base/sources.h"
#include "base/text.h"
#include "convert/duplicates.h"
#include "convert/expansion.h"
#include "convert/file_targets.h"
#include "convert/load.h"
#include "convert/save.h"
#include "convert/save_onnx.h"
#include "model/front_end.h"
#include "model/messages.h"
#include "model/text_parser.h"
#include "model/walk.h"
#include "onnx/external_data.h"

namespace onnxar {
namespace {

using google::protobuf::TextFormat;

enum class LargeData : std::uint8_t { printed, left_out };

/// Passes protobuf's output to a sink, one buffer at a time.
class SinkStream final : public google::protobuf::io::ZeroCopyOutputStream {
 public:
  explicit SinkStream(base::Kept<const ByteSink> sink) : sink_(sink), buffer_(buffer_size) {}

  bool Next(void** data, int* size) override {
    flush();
    used_ = buffer_.size();
    *data = buffer_.data();
    *size = static_cast<int>(buffer_.size());
    return true;
  }
  void BackUp(int count) override { used_ -= std::min(used_, static_cast<std::size_t>(count)); }
  [[nodiscard]] std::int64_t ByteCount() const override { return static_cast<std::int64_t>(handed_out_ + used_); }

  void flush() {
    if (used_ != 0) sink_(Bytes(buffer_).first(used_));
    handed_out_ += used_;
    used_ = 0;
  }

 private:
  static constexpr std::size_t buffer_size = 64U << 10U;

  const ByteSink& sink_;
  std::vector<std::byte> buffer_;
  std::size_t used_ = 0;
  std::uint64_t handed_out_ = 0;
};

/// Returns the bytes as a string of the text format holds them.
std::string escaped_bytes(Bytes bytes) {
  const std::string quoted = TextFormat::FieldValuePrinter().PrintBytes(std::string(as_text(bytes)));
  return quoted.substr(1, quoted.size() - 2);
}

/// Prints TensorProto.raw_data. A link into the table of payloads is printed as the payload's bytes. Large data is
/// printed as a comment if it is left out.
class RawDataPrinter final : public TextFormat::FastFieldValuePrinter {
 public:
  RawDataPrinter(base::Kept<const LoadedModel> model, LargeData large, std::uint64_t threshold)
      : model_(model), large_(large), threshold_(threshold) {}

  using TextFormat::FastFieldValuePrinter::PrintFieldName;
  // The comment begins before the name: "# raw_data: 1024 bytes, left out here".
  void PrintFieldName(const google::protobuf::Message& message, const google::protobuf::Reflection* reflection,
                      const google::protobuf::FieldDescriptor* field,
                      TextFormat::BaseTextGenerator* generator) const override {
    if (is_left_out(static_cast<const schema::TensorProto&>(message).raw_data())) generator->PrintLiteral("# ");
    FastFieldValuePrinter::PrintFieldName(message, reflection, field, generator);
  }

  void PrintBytes(const std::string& value, TextFormat::BaseTextGenerator* generator) const override {
    const Payload* payload = model_.payload_at(value);
    if (is_left_out(value)) {
      generator->PrintString(
          base::concat(payload == nullptr ? value.size() : payload->size(), " bytes, left out here"));
      return;
    }
    if (payload == nullptr) {
      FastFieldValuePrinter::PrintBytes(value, generator);
      return;
    }
    generator->PrintLiteral("\"");
    payload->source->read([generator](Bytes piece) {
      // Escaping turns a byte into up to four characters, so a large payload is escaped in small steps.
      for (; !piece.empty(); piece = piece.subspan(std::min(piece.size(), step))) {
        generator->PrintString(escaped_bytes(piece.first(std::min(piece.size(), step))));
      }
    });
    generator->PrintLiteral("\"");
  }

 private:
  static constexpr std::size_t step = 16U << 10U;

  [[nodiscard]] bool is_left_out(const std::string& value) const {
    if (large_ == LargeData::printed) return false;
    return value.size() >= threshold_ || model_.payload_at(value) != nullptr;
  }

  const LoadedModel& model_;
  LargeData large_;
  std::uint64_t threshold_;
};

[[noreturn]] void refuse_not_loaded(const schema::TensorProto& tensor, const Site& site) {
  throw Error(Code::usage_not_loaded,
              base::concat(not_loaded_text(base::concat("tensor ", base::quoted(tensor.name())), location_of(tensor)),
                           "; text contains all data"),
              {site.text(), std::nullopt}, {}, {Hint::load_or_set_payload});
}

/// Counts the NaNs that text changes: protobuf prints every NaN as `nan`, and parses it as the quiet NaN without sign
/// or payload.
template <typename Bits, typename Floats>
std::uint64_t odd_nans(const Floats& values) {
  const auto is_odd = [](auto value) {
    constexpr auto parsed = std::bit_cast<Bits>(std::numeric_limits<decltype(value)>::quiet_NaN());
    return std::isnan(value) && std::bit_cast<Bits>(value) != parsed;
  };
  return static_cast<std::uint64_t>(std::ranges::count_if(values, is_odd));
}

struct Losses {
  std::uint64_t unknown = 0;  ///< messages with unknown fields
  std::uint64_t nans = 0;
};

Losses losses_of(const schema::ModelProto& proto) {
  Losses losses;
  for_each_message(proto, [&](const google::protobuf::Message& message) {
    if (!message.GetReflection()->GetUnknownFields(message).empty()) ++losses.unknown;
    if (const auto* tensor = as<schema::TensorProto>(message)) {
      losses.nans += odd_nans<std::uint32_t>(tensor->float_data()) + odd_nans<std::uint64_t>(tensor->double_data());
    }
    if (const auto* attribute = as<schema::AttributeProto>(message)) {
      losses.nans += odd_nans<std::uint32_t>(attribute->floats()) + odd_nans<std::uint32_t>(std::array{attribute->f()});
    }
  });
  return losses;
}

/// Counts the tensors that share another tensor's bytes.
std::uint64_t shared_payloads(const LoadedModel& model) {
  std::set<Extent> extents;
  std::uint64_t again = 0;
  for (const Payload& payload : model.payloads) {
    if (payload.source && payload.size() != 0 && !extents.emplace(payload).second) ++again;
  }
  return again;
}

/// Reports what a model loses when it is printed as text and parsed again. `proto` is the parsed skeleton of `model`.
std::vector<Finding> text_losses(const LoadedModel& model, const schema::ModelProto& proto) {
  std::vector<Finding> found;
  const auto add = [&found](std::string message) {
    found.push_back({Severity::warning, Code::onnx_text_loss, {}, std::move(message)});
  };
  const auto add_counted = [&add](std::uint64_t count, std::string_view one, std::string_view several,
                                  std::string_view what) {
    if (count != 0) add(base::concat(count, count == 1 ? one : several, what));
  };
  const Losses losses = losses_of(proto);
  add_counted(losses.unknown, " message has", " messages have",
              " fields that the schema does not know; text cannot carry them");
  add_counted(losses.nans, " NaN in a typed field has", " NaNs in typed fields have",
              " a sign or a payload; text has one NaN");
  // Unknown fields are dropped, which changes the bytes in any case: a second remark would add nothing.
  if (losses.unknown == 0 && serialised(proto) != model.skeleton) {
    add("the fields of the model are not in the order or encoding that protobuf writes; a model made from the text has "
        "the same content in different bytes");
  }
  add_counted(shared_payloads(model), " tensor shares", " tensors share",
              " another tensor's data; the text repeats it for each of them");
  return found;
}

/// The text of a model. Payloads are read while they are printed. Every read yields the same text.
class TextSource final : public ByteSource {
 public:
  /// Payloads of at least `threshold` bytes are large. Throws onnx.model.invalid, usage.not_loaded (data to be printed
  /// is in a file that was not loaded) or onnx.model.expansion.
  TextSource(base::Kept<const LoadedModel> model, LargeData large, std::uint64_t threshold)
      : model_(model), large_(large), threshold_(threshold) {
    parse(proto_, model_.skeleton);
    if (large == LargeData::printed) losses_ = text_losses(model, proto_);
    Expansion expansion(model);
    // Uses `walk`, whose sites become text only for an error.
    walk(proto_, {.tensor = [&](const schema::TensorProto& visited, const Site& site) {
           schema::TensorProto& tensor = changeable(visited);
           const Payload* payload = is_linked(tensor) ? model_.payload_at(location_of(tensor)) : nullptr;
           if (is_linked(tensor) && payload == nullptr && large == LargeData::printed) refuse_not_loaded(tensor, site);
           if (payload != nullptr && large == LargeData::printed) expansion.add(*payload);
           if (payload != nullptr) {
             // raw_data holds the link until the printer replaces it. The link includes a random id, so the model's own
             // data cannot be mistaken for one.
             tensor.set_raw_data(std::string(location_of(tensor)));
             tensor.clear_external_data();
             tensor.clear_data_location();
           }
           if (large == LargeData::left_out && (payload != nullptr || tensor.raw_data().size() >= threshold))
             ++left_out_;
         }});
  }

  /// Removes the model's name among the graphs of an archive.
  void drop_model_name() {
    // The name belongs to the entry of an archive. In a file of its own the model is named by the file.
    keep_only(*proto_.mutable_metadata_props(), [](const auto& pair) { return pair.key() != model_name_key; });
  }

  /// Cost: prints the whole text to count its bytes.
  [[nodiscard]] std::uint64_t size() const override {
    // Counting takes a second print, but no memory: a buffer would need up to four times the size of all weights.
    std::uint64_t size = 0;
    read([&size](Bytes piece) { size += piece.size(); });
    return size;
  }

  void read(const ByteSink& sink) const override {
    TextFormat::Printer printer;
    printer.SetHideUnknownFields(true);  // text has only their numbers, which cannot be parsed again
    auto raw_data = std::make_unique<RawDataPrinter>(model_, large_, threshold_);
    const auto* field = schema::TensorProto::descriptor()->FindFieldByNumber(schema::TensorProto::kRawDataFieldNumber);
    printer.RegisterFieldValuePrinter(field,
                                      raw_data.release());  // takes ownership, as the field had no printer before
    SinkStream stream(sink);
    static_cast<void>(printer.Print(proto_, &stream));  // cannot fail: the stream accepts everything or throws
    stream.flush();
  }

  /// Returns the number of tensors whose data is left out.
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
  /// Returns the losses of the text; empty if large data is left out.
  [[nodiscard]] const std::vector<Finding>& losses() const noexcept { return losses_; }

 private:
  const LoadedModel& model_;
  LargeData large_;
  std::uint64_t threshold_;
  schema::ModelProto proto_;  // raw_data of a tensor with a payload holds its link
  std::uint64_t left_out_ = 0;
  std::vector<Finding> losses_;
};

}  // namespace

ConvertReport save_text(const LoadedModel& model, const std::filesystem::path& output, const SaveOptions& options,
                        const std::filesystem::path& input) {
  refuse_duplicates_outside(model, output, Hint::not_as_text);
  TextSource text(model, LargeData::printed, 0);
  text.drop_model_name();
  ConvertReport report;
  if (auto note = note_of_left_out(model)) report.remarks.push_back(std::move(*note));
  report.remarks.insert(report.remarks.end(), model.remarks.begin(), model.remarks.end());
  report.remarks.insert(report.remarks.end(), text.losses().begin(), text.losses().end());
  save_alone(text, model, Destination::of(output, name_in_folder(model, input), Format::textproto), options, report);
  return report;
}

TextReport dump(const std::filesystem::path& model, const ByteSink& sink, const TextOptions& options) {
  base::check_sink(sink);
  LoadOptions load = with_text_parser(options.load);
  // Without data, links remain links, so their files may be missing.
  if (!options.with_data) load.load_external_data = false;
  const ExternalPolicy policy = options.with_data ? ExternalPolicy::everything_inline() : ExternalPolicy::of(load);
  return base::annotated(model, [&] {
    const Companions companions = options.with_data ? Companions::taken : Companions::left;
    const LoadedModel loaded = load_model(model, policy, load, companions);
    if (options.with_data) refuse_duplicates_outside(loaded, model, Hint::none);
    const TextSource text(loaded, options.with_data ? LargeData::printed : LargeData::left_out, load.threshold);
    text.read(sink);
    TextReport report{text.left_out(), loaded.remarks};
    report.remarks.insert(report.remarks.end(), text.losses().begin(), text.losses().end());
    const auto note = [&report](const std::string& name, const char* what) {
      report.remarks.push_back({Severity::note, Code::onnx_text_loss, {name, std::nullopt}, what});
    };
    for (const SideFile& file : loaded.side_files) note(file.name, "this side file is not part of the model's text");
    for (const LoadedGraph& graph : loaded.graphs) note(graph.name, "this further graph is not part of the text");
    return report;
  });
}

ConvertReport dump(const std::filesystem::path& input, const std::filesystem::path& output, const SaveOptions& save,
                   const LoadOptions& load) {
  LoadOptions options = with_text_parser(load);
  options.load_external_data = true;
  return base::annotated(input, [&] {
    return save_text(load_model(input, ExternalPolicy::everything_inline(), options), output, save, input);
  });
}

}  // namespace onnxar
