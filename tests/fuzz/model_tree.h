// A ModelProto as a tree of fields, for mutations: parsed, and serialised again.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "onnxar/bytes.h"
#include "support/wire_builder.h"

namespace onnxar::fuzz {

using testing::Blob;

enum class Message : std::uint8_t {
  scalar,
  model,
  graph,
  node,
  attribute,
  tensor,
  sparse,
  function,
  training,
  pair,
  value
};

/// A field that holds messages, or one that mutations add.
struct Known {
  Message in;
  std::uint32_t number;
  Message type;
};

/// The fields of onnx.proto on the way to tensors, those of tensors, and some that readers look at.
inline constexpr auto fields = [] {
  using enum Message;
  return std::to_array<Known>({
      {model, 1, scalar},      {model, 7, graph},       {model, 8, pair},        {model, 14, pair},
      {model, 20, training},   {model, 25, function},   {graph, 1, node},        {graph, 2, scalar},
      {graph, 5, tensor},      {graph, 11, value},      {graph, 12, value},      {graph, 13, value},
      {graph, 14, scalar},     {graph, 15, sparse},     {node, 1, scalar},       {node, 2, scalar},
      {node, 4, scalar},       {node, 5, attribute},    {node, 7, scalar},       {attribute, 1, scalar},
      {attribute, 5, tensor},  {attribute, 6, graph},   {attribute, 10, tensor}, {attribute, 11, graph},
      {attribute, 20, scalar}, {attribute, 22, sparse}, {attribute, 23, sparse}, {sparse, 1, tensor},
      {sparse, 2, tensor},     {sparse, 3, scalar},     {function, 7, node},     {function, 11, attribute},
      {training, 1, graph},    {training, 2, graph},    {tensor, 1, scalar},     {tensor, 2, scalar},
      {tensor, 3, pair},       {tensor, 4, scalar},     {tensor, 5, scalar},     {tensor, 6, scalar},
      {tensor, 7, scalar},     {tensor, 8, scalar},     {tensor, 9, scalar},     {tensor, 10, scalar},
      {tensor, 11, scalar},    {tensor, 13, pair},      {tensor, 14, scalar},    {tensor, 16, pair},
      {pair, 1, scalar},       {pair, 2, scalar},       {value, 1, scalar},      {value, 2, value},
  });
}();

inline constexpr std::uint32_t varint = 0, fixed64 = 1, delimited = 2, fixed32 = 5;
inline constexpr int deepest = 40;

struct Field {
  std::uint32_t number = 0;
  std::uint32_t wire_type = 0;
  std::uint64_t value = 0;  // of a varint
  Bytes bytes = {};         // of a fixed number, or of a delimited field that is not taken apart: a view of the input
  Message type = Message::scalar;
  std::vector<Field> inner = {};
  std::size_t padding = 0;  // bytes that a varint or length has too many
};
using Fields = std::vector<Field>;

inline Message type_of(Message in, std::uint32_t number) {
  for (const Known& each : fields) {
    if (each.in == in && each.number == number) return each.type;
  }
  return Message::scalar;
}

class Parser {
 public:
  explicit Parser(Bytes bytes) : rest_(bytes) {}

  /// Nothing if the bytes are not a message.
  std::optional<Fields> message(Message type, int depth) {
    Fields all;
    while (!rest_.empty()) {
      const auto tag = number();
      if (!tag) return std::nullopt;
      auto next = field(static_cast<std::uint32_t>(*tag), type, depth);
      if (!next) return std::nullopt;
      all.push_back(std::move(*next));
    }
    return all;
  }

 private:
  std::optional<std::uint64_t> number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(rest_.front());
      rest_ = rest_.subspan(1);
      value |= (byte & 0x7fU) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::optional<Bytes> take(std::uint64_t size) {
    if (size > rest_.size()) return std::nullopt;
    const Bytes front = rest_.first(size);
    rest_ = rest_.subspan(size);
    return front;
  }

  std::optional<Field> field(std::uint32_t tag, Message in, int depth) {
    Field made{tag >> 3U, tag & 7U};
    std::optional<std::uint64_t> size = made.wire_type == fixed64 ? 8 : 4;
    if (made.wire_type == varint || made.wire_type == delimited) size = number();
    if (!size || (made.wire_type > delimited && made.wire_type != fixed32)) return std::nullopt;
    if (made.wire_type == varint) {
      made.value = *size;
      return made;
    }
    const auto bytes = take(*size);
    if (!bytes) return std::nullopt;
    made.bytes = *bytes;
    if (made.wire_type == delimited) take_apart(made, type_of(in, made.number), depth);
    return made;
  }

  static void take_apart(Field& made, Message type, int depth) {
    if (type == Message::scalar || depth >= deepest) return;
    auto inner = Parser(made.bytes).message(type, depth + 1);
    if (!inner) return;
    made.type = type;
    made.inner = std::move(*inner);
    made.bytes = {};
  }

  Bytes rest_;
};

/// A varint.
struct Encoded {
  std::array<std::byte, 16> bytes = {};
  std::size_t size = 0;

  Encoded(std::uint64_t value, std::size_t padding) {
    for (; value >= 0x80; value >>= 7U) add((value & 0x7fU) | 0x80U);
    add(padding == 0 ? value : value | 0x80U);
    for (; padding != 0; --padding) add(padding == 1 ? 0 : 0x80);
  }
  void add(std::uint64_t byte) { bytes.at(size++) = static_cast<std::byte>(byte); }
};

inline void put_number(Blob& out, std::size_t at, std::uint64_t value, std::size_t padding = 0) {
  const Encoded number(value, padding);
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), number.bytes.begin(),
             number.bytes.begin() + static_cast<std::ptrdiff_t>(number.size));
}

inline void serialise(const Fields& all, Blob& out);

/// The content goes first, and then the length before it: nothing is written twice.
inline void serialise_delimited(const Field& field, Blob& out) {
  const std::size_t begin = out.size();
  if (field.type == Message::scalar) {
    out.insert(out.end(), field.bytes.begin(), field.bytes.end());
  } else {
    serialise(field.inner, out);
  }
  put_number(out, begin, out.size() - begin, field.padding);
}

inline void serialise(const Fields& all, Blob& out) {
  for (const Field& field : all) {
    put_number(out, out.size(), field.number << 3U | field.wire_type);
    if (field.wire_type == varint) {
      put_number(out, out.size(), field.value, field.padding);
    } else if (field.wire_type == delimited) {
      serialise_delimited(field, out);
    } else {
      out.insert(out.end(), field.bytes.begin(), field.bytes.end());
    }
  }
}

inline Blob serialised(const Fields& all, std::size_t about) {
  Blob out;
  out.reserve(about);
  serialise(all, out);
  return out;
}

}  // namespace onnxar::fuzz
