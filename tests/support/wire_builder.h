// Protobuf messages and ONNX models written byte by byte, for tests.
//
// Independent of the code under test: includes nothing of it, and defines wire types and field numbers again. Checks
// nothing, so that tests can build any wrong message.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onnxar::testing {

using Blob = std::vector<std::byte>;

/// The values as ONNX's raw data has them, on hosts of either byte order.
template <typename T>
Blob little_endian_bytes(const std::vector<T>& values) {
  Blob all;
  for (const T& value : values) {
    auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
    if constexpr (std::endian::native == std::endian::big) std::ranges::reverse(bytes);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

inline Blob copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

/// The bytes of `text`.
Blob blob(std::string_view text);
/// `size` bytes that depend on position and seed, and are equal in every run.
Blob pattern(std::size_t size, std::uint32_t seed = 0);
/// The characters of `bytes`.
std::string text_of(std::span<const std::byte> bytes);

namespace wire_type {
inline constexpr std::uint32_t varint = 0;
inline constexpr std::uint32_t fixed64 = 1;
inline constexpr std::uint32_t length = 2;
inline constexpr std::uint32_t group_start = 3;
inline constexpr std::uint32_t group_end = 4;
inline constexpr std::uint32_t fixed32 = 5;
}  // namespace wire_type

/// A message under construction. Fields appear in the order of the calls, and may be repeated. The calls return the
/// message itself, so store a chain that began with a temporary by value.
class Message {
 public:
  Message& varint(std::uint32_t field, std::uint64_t value);
  /// Encodes as int64 and int32 do: a negative value takes ten bytes.
  Message& signed_varint(std::uint32_t field, std::int64_t value);
  Message& fixed32(std::uint32_t field, std::uint32_t value);
  Message& fixed64(std::uint32_t field, std::uint64_t value);
  Message& bytes(std::uint32_t field, std::span<const std::byte> value);
  Message& string(std::uint32_t field, std::string_view value);
  Message& message(std::uint32_t field, const Message& value);
  Message& packed_varints(std::uint32_t field, const std::vector<std::uint64_t>& values);
  Message& packed_fixed32(std::uint32_t field, const std::vector<std::uint32_t>& values);
  Message& packed_fixed64(std::uint32_t field, const std::vector<std::uint64_t>& values);
  /// Start and end group around `value` (deprecated in protobuf, still legal as an unknown field).
  Message& group(std::uint32_t field, const Message& value);

  /// The forms below write varints of exactly `width` bytes, more than needed. This is legal, but libraries never
  /// write it.
  Message& padded_varint(std::uint32_t field, std::uint64_t value, std::size_t width);
  Message& padded_length_bytes(std::uint32_t field, std::span<const std::byte> value, std::size_t width);
  Message& padded_length_message(std::uint32_t field, const Message& value, std::size_t width);
  Message& padded_tag(std::uint32_t field, std::uint32_t type, std::size_t width);

  /// A tag without a value. The field number may be 0 and the type 6 or 7.
  Message& tag(std::uint32_t field, std::uint32_t type);
  /// A tag and a length without the bytes. With `raw` after it, the length is wrong.
  Message& claimed_length(std::uint32_t field, std::uint64_t length);
  /// A varint without a tag, minimal when `width` is 0.
  Message& raw_varint(std::uint64_t value, std::size_t width = 0);
  Message& raw(std::span<const std::byte> value);
  Message& raw(const Message& value);

  [[nodiscard]] std::size_t size() const { return wire_.size(); }
  [[nodiscard]] const Blob& view() const& { return wire_; }
  [[nodiscard]] std::string str() const { return text_of(wire_); }
  /// Returns the bytes. The message is empty afterwards.
  [[nodiscard]] Blob take();

 private:
  Blob wire_;
};

// The field numbers of ONNX that tests use.
namespace model_field {
inline constexpr std::uint32_t ir_version = 1, producer_name = 2, producer_version = 3, domain = 4, model_version = 5,
                               doc_string = 6, graph = 7, opset_import = 8, metadata_props = 14, training_info = 20,
                               functions = 25, configuration = 26;
}
namespace graph_field {
inline constexpr std::uint32_t node = 1, name = 2, initializer = 5, doc_string = 10, input = 11, output = 12,
                               value_info = 13, quantization_annotation = 14, sparse_initializer = 15,
                               metadata_props = 16;
}
namespace node_field {
inline constexpr std::uint32_t input = 1, output = 2, name = 3, op_type = 4, attribute = 5, doc_string = 6, domain = 7,
                               overload = 8, metadata_props = 9;
}
namespace attribute_field {
inline constexpr std::uint32_t name = 1, f = 2, i = 3, s = 4, t = 5, g = 6, floats = 7, ints = 8, strings = 9,
                               tensors = 10, graphs = 11, doc_string = 13, tp = 14, type_protos = 15, type = 20,
                               ref_attr_name = 21, sparse_tensor = 22, sparse_tensors = 23;
}
namespace tensor_field {
inline constexpr std::uint32_t dims = 1, data_type = 2, segment = 3, float_data = 4, int32_data = 5, string_data = 6,
                               int64_data = 7, name = 8, raw_data = 9, double_data = 10, uint64_data = 11,
                               doc_string = 12, external_data = 13, data_location = 14, metadata_props = 16;
}
namespace sparse_tensor_field {
inline constexpr std::uint32_t values = 1, indices = 2, dims = 3;
}
namespace function_field {
inline constexpr std::uint32_t name = 1, input = 4, output = 5, attribute = 6, node = 7, doc_string = 8,
                               opset_import = 9, domain = 10, attribute_proto = 11, value_info = 12, overload = 13,
                               metadata_props = 14;
}
namespace training_field {
inline constexpr std::uint32_t initialization = 1, algorithm = 2, initialization_binding = 3, update_binding = 4;
}

/// TensorProto.DataType.
namespace dtype {
inline constexpr std::uint64_t undefined = 0, float32 = 1, uint8 = 2, int8 = 3, uint16 = 4, int16 = 5, int32 = 6,
                               int64 = 7, string = 8, boolean = 9, float16 = 10, float64 = 11, uint32 = 12, uint64 = 13,
                               complex64 = 14, complex128 = 15, bfloat16 = 16, float8e4m3fn = 17, float8e4m3fnuz = 18,
                               float8e5m2 = 19, float8e5m2fnuz = 20, uint4 = 21, int4 = 22, float4e2m1 = 23,
                               float8e8m0 = 24, uint2 = 25, int2 = 26, float6e2m3 = 27, float6e3m2 = 28;
}

/// The encoding of a repeated number. The schema packs only the typed data fields, but both encodings are legal for
/// all fields.
enum class Repeated : std::uint8_t { packed, unpacked };

/// A TensorProto. Fields are sent ascending by number, as libraries do, unless `order` says otherwise.
class TensorBuilder {
 public:
  TensorBuilder(std::string_view name, std::uint64_t data_type, const std::vector<std::int64_t>& dims);

  TensorBuilder& raw_data(std::span<const std::byte> bytes);
  TensorBuilder& float_data(const std::vector<float>& values, Repeated form = Repeated::packed);
  TensorBuilder& double_data(const std::vector<double>& values, Repeated form = Repeated::packed);
  TensorBuilder& int32_data(const std::vector<std::int32_t>& values, Repeated form = Repeated::packed);
  TensorBuilder& int64_data(const std::vector<std::int64_t>& values, Repeated form = Repeated::packed);
  TensorBuilder& uint64_data(const std::vector<std::uint64_t>& values, Repeated form = Repeated::packed);
  TensorBuilder& string_data(const std::vector<std::string>& values);

  /// `location`, then `offset` and `length` where given, and data_location EXTERNAL.
  TensorBuilder& external(std::string_view location, std::optional<std::uint64_t> offset = {},
                          std::optional<std::uint64_t> length = {});
  /// Appends an external_data record with any content.
  TensorBuilder& external_data(std::string_view key, std::string_view value);
  TensorBuilder& data_location(std::uint64_t value);
  TensorBuilder& segment(std::int64_t begin, std::int64_t end);
  TensorBuilder& doc_string(std::string_view text);
  TensorBuilder& metadata(std::string_view key, std::string_view value);
  /// Any other field, already encoded with its tag.
  TensorBuilder& field(std::uint32_t number, const Message& encoded);

  /// Sends the dims in one packed record, as a proto3 library does.
  TensorBuilder& packed_dims();
  /// Leaves the field out, if it is there.
  TensorBuilder& without(std::uint32_t number);
  /// Sends these fields first, in this order. The others follow in ascending order.
  TensorBuilder& order(std::vector<std::uint32_t> first);

  [[nodiscard]] Message message() const;
  operator Message() const { return message(); }  // NOLINT(google-explicit-constructor): a tensor is a message

 private:
  struct Part {
    std::uint32_t field = 0;
    Message wire;
  };
  [[nodiscard]] std::size_t rank(std::uint32_t field) const;

  std::vector<std::int64_t> dims_;
  std::vector<Part> parts_;
  std::vector<std::uint32_t> first_;
};

using Names = std::vector<std::string>;
using Messages = std::vector<Message>;
using Dims = std::vector<std::int64_t>;

TensorBuilder tensor(std::string_view name, std::uint64_t data_type, const Dims& dims);
Message sparse_tensor(const Message& values, const Message& indices, const Dims& dims);

// AttributeProto, named after the field that each one fills.
Message attribute_i(std::string_view name, std::int64_t value);
Message attribute_ints(std::string_view name, const std::vector<std::int64_t>& values);
Message attribute_t(std::string_view name, const Message& tensor);
Message attribute_tensors(std::string_view name, const Messages& tensors);
Message attribute_g(std::string_view name, const Message& graph);
Message attribute_graphs(std::string_view name, const Messages& graphs);
Message attribute_sparse_tensor(std::string_view name, const Message& sparse);
Message attribute_sparse_tensors(std::string_view name, const Messages& sparse);

Message node(std::string_view op_type, const Names& inputs, const Names& outputs, const Messages& attributes = {},
             std::string_view domain = {});
/// A Constant node with the attribute `value`.
Message constant(std::string_view output, const Message& tensor);
Message value_info(std::string_view name, std::uint64_t data_type, const Dims& dims);
Message string_entry(std::string_view key, std::string_view value);
Message opset(std::string_view domain, std::int64_t version);

struct GraphParts {
  std::string name = "g";
  Messages nodes = {};
  Messages initializers = {};
  Messages sparse_initializers = {};
  Messages inputs = {};
  Messages outputs = {};
};
Message graph(const GraphParts& parts);

struct FunctionParts {
  std::string name = "f";
  std::string domain = "onnxar.test";
  Names inputs = {};
  Names outputs = {};
  Messages nodes = {};
  Messages attribute_protos = {};
};
Message function(const FunctionParts& parts);

Message training_info(const Message& initialization, const Message& algorithm);

struct ModelParts {
  std::int64_t ir_version = 8;
  std::string producer_name = "onnxar.test";
  Message graph = {};
  Messages opsets = {opset("", 17)};
  Messages metadata = {};
  Messages functions = {};
  Messages training = {};
};
Message model(const ModelParts& parts);

/// `innermost` inside `depth` graphs: each holds one Loop node whose attribute `body` is the next graph, so
/// the message nests three deep per level. Depth 0 is `innermost` itself. Cost: linear in the result.
Message subgraph_of_depth(std::size_t depth, const Message& innermost = graph({}));

}  // namespace onnxar::testing
