#include "onnxar/model.h"

#include <limits>
#include <span>
#include <utility>

#include "base/text.h"
#include "convert/loaded_model.h"
#include "convert/save.h"
#include "onnx/typed_data.h"

namespace onnxar {

struct Model::Parts {
  LoadedModel loaded;  // its skeleton is empty: `proto` is it
  schema::ModelProto proto;
  LoadOptions options;
};

namespace {

using base::concat;

std::vector<std::byte> serialised(const google::protobuf::MessageLite& message) {
  std::vector<std::byte> bytes(message.ByteSizeLong());
  // Protobuf's own limit; the skeleton of a model that large holds data that should be payloads.
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      !message.SerializePartialToArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw Error(Code::onnx_model_too_large,
                concat("the messages are ", base::human_size(bytes.size()), ", and protobuf writes less than 2 GiB; ",
                       "give large tensors their data with set_payload"));
  }
  return bytes;
}

/// Gathers a source in memory.
ByteSpan gathered(const ByteSource& source) {
  std::vector<std::byte> buffer;
  buffer.reserve(source.size());
  source.read([&buffer](Bytes piece) { buffer.insert(buffer.end(), piece.begin(), piece.end()); });
  return ByteSpan::own(std::move(buffer));
}

const std::string* location_of(const schema::TensorProto& tensor) {
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") return &entry.value();
  }
  return nullptr;
}

void check_size(const schema::TensorProto& tensor, std::uint64_t size) {
  const std::span dims(tensor.dims().data(), static_cast<std::size_t>(tensor.dims_size()));
  const auto expected = payload_size(static_cast<DataType>(tensor.data_type()), dims);
  if (!expected || *expected == size) return;
  throw Error(Code::onnx_tensor_length,
              concat("tensor ", base::quoted(tensor.name()), ": ", size, " bytes were given, but type ",
                     to_string(static_cast<DataType>(tensor.data_type())), " and the dimensions call for ", *expected));
}

void clear_data(schema::TensorProto& tensor) {
  tensor.clear_float_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_double_data();
  tensor.clear_uint64_data();
  tensor.clear_raw_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
}

void add_external(schema::TensorProto& tensor, std::string_view key, const std::string& value) {
  auto* entry = tensor.add_external_data();
  entry->set_key(std::string(key));
  entry->set_value(value);
}

/// The data of a tensor that is not linked, as the wire layer reads it from the message's own bytes.
ByteSpan inline_payload(const schema::TensorProto& tensor) {
  if (tensor.has_raw_data()) {
    const Bytes raw = as_bytes(tensor.raw_data());
    check_size(tensor, raw.size());
    return ByteSpan::own({raw.begin(), raw.end()});
  }
  const std::vector<std::byte> bytes = serialised(tensor);
  const onnx::TensorView view = onnx::read_tensor(bytes, {0, bytes.size()});
  if (view.expected_size() == 0) return {};
  const auto source = onnx::typed_data_source(bytes, view);
  if (!source) {
    throw Error(Code::onnx_tensor_not_converted,
                concat("tensor ", base::quoted(tensor.name()),
                       ": its data does not convert to raw bytes (strings, another count, or values out of range)"));
  }
  return gathered(*source);
}

}  // namespace

Model::Model() : parts_(std::make_unique<Parts>()) { parts_->loaded.id = new_model_id(); }
Model::Model(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
Model::Model(Model&& other) noexcept = default;
Model& Model::operator=(Model&& other) noexcept = default;
Model::~Model() = default;

Model Model::load(const std::filesystem::path& path, const LoadOptions& options) {
  auto parts = std::make_unique<Parts>();
  parts->loaded = load_model(path, MovePolicy::of(options), options);
  parts->options = options;
  const std::vector<std::byte> skeleton = std::move(parts->loaded.skeleton);
  if (!parts->proto.ParsePartialFromArray(skeleton.data(), static_cast<int>(skeleton.size()))) {
    throw Error(Code::onnx_model_invalid, "protobuf cannot parse the model: some message in it is damaged", {}, path);
  }
  return Model(std::move(parts));
}

schema::ModelProto& Model::proto() & noexcept { return parts_->proto; }
const schema::ModelProto& Model::proto() const& noexcept { return parts_->proto; }
const std::vector<Finding>& Model::remarks() const& noexcept { return parts_->loaded.remarks; }

ByteSpan Model::payload(const schema::TensorProto& tensor) const {
  if (tensor.data_location() != schema::TensorProto::EXTERNAL) return inline_payload(tensor);
  const std::string* location = location_of(tensor);
  const auto index =
      location != nullptr ? onnx::parse_memory_location(*location, parts_->loaded.id) : std::optional<std::size_t>();
  if (!index || *index >= parts_->loaded.payloads.size()) {
    throw Error(Code::onnx_external_marker, concat("tensor ", base::quoted(tensor.name()), " is linked to ",
                                                   location != nullptr ? base::quoted(*location) : "nothing",
                                                   ", which is no payload of this model"));
  }
  const Payload& payload = parts_->loaded.payloads[*index];
  return payload.size() != 0 && payload.span.empty() ? gathered(*payload.source) : payload.span;
}

void Model::set_payload(schema::TensorProto& tensor, ByteSpan bytes) {
  if (static_cast<DataType>(tensor.data_type()) == DataType::string) {
    throw Error(Code::onnx_external_string,
                concat("tensor ", base::quoted(tensor.name()), ": strings have no payload; set string_data"));
  }
  check_size(tensor, bytes.size());
  clear_data(tensor);
  std::vector<Payload>& payloads = parts_->loaded.payloads;
  // The table owns a span of its own, and its source is a view of that.
  const auto span = std::make_shared<const ByteSpan>(std::move(bytes));
  const Bytes view = span->bytes();
  add_external(tensor, "location", onnx::memory_location(parts_->loaded.id, payloads.size()));
  add_external(tensor, "length", std::to_string(view.size()));
  tensor.set_data_location(schema::TensorProto::EXTERNAL);
  payloads.push_back({std::make_shared<SpanSource>(view), ByteSpan::borrow(view, span), std::nullopt});
}

ConvertReport Model::save(const std::filesystem::path& path, const SaveOptions& options) const {
  LoadedModel saved = parts_->loaded;
  saved.source = nullptr;  // links of the messages lead into the table and nowhere else
  try {
    set_skeleton(saved, std::make_shared<const std::vector<std::byte>>(serialised(parts_->proto)),
                 MovePolicy::of(options), parts_->options);
  } catch (const Error& error) {
    throw error.with_path(path);
  }
  return save_model(saved, path, options);
}

}  // namespace onnxar
