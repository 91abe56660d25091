// Random models in all encodings, made with protobuf only, independent of the code under test.
#pragma once

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "onnxar/onnx.pb.h"
#include "support/wire_builder.h"

namespace onnxar::testing {

using Random = std::mt19937;

inline std::size_t below(Random& random, std::size_t end) { return random() % end; }

/// Fills messages through reflection, so that fields that are added to the schema are filled too.
class ModelMaker {
 public:
  explicit ModelMaker(std::uint32_t seed) : random_(seed) {}

  schema::ModelProto make() {
    schema::ModelProto model;
    fill(model, 0);
    model.mutable_graph();
    return model;
  }

 private:
  void fill(google::protobuf::Message& message, std::size_t depth) {
    const google::protobuf::Descriptor& type = *message.GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) fill_field(message, *type.field(i), depth);
    if (type.full_name() == schema::TensorProto::descriptor()->full_name())
      make_legal(dynamic_cast<schema::TensorProto&>(message));
    if (below(random_, 4) == 0) add_unknown(*message.GetReflection()->MutableUnknownFields(&message));
  }

  void fill_field(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
                  std::size_t depth) {
    const bool nested = field.cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE;
    // Deeper messages become rarer, so that the recursion ends.
    if (nested && (depth > 9 || messages_ > 400 || below(random_, 2 + depth) > 2)) return;
    const std::size_t count = field.is_repeated() ? below(random_, 4) : below(random_, 2);
    for (std::size_t i = 0; i < count; ++i) {
      if (nested) {
        ++messages_;
        const google::protobuf::Reflection& reflection = *message.GetReflection();
        fill(field.is_repeated() ? *reflection.AddMessage(&message, &field)
                                 : *reflection.MutableMessage(&message, &field),
             depth + 1);
      } else {
        fill_scalar(message, field);
      }
    }
  }

  void fill_scalar(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field) {
    using Field = google::protobuf::FieldDescriptor;
    using To = google::protobuf::Reflection;
    const To& to = *message.GetReflection();
    const auto put = [&](auto add, auto set, auto value) {
      field.is_repeated() ? (to.*add)(&message, &field, value) : (to.*set)(&message, &field, value);
    };
    const std::uint64_t bits = any_bits();
    const double fraction = static_cast<double>(bits % 1000) / 8;
    switch (field.cpp_type()) {
      case Field::CPPTYPE_INT32: put(&To::AddInt32, &To::SetInt32, static_cast<std::int32_t>(bits)); break;
      case Field::CPPTYPE_INT64: put(&To::AddInt64, &To::SetInt64, static_cast<std::int64_t>(bits)); break;
      case Field::CPPTYPE_UINT64: put(&To::AddUInt64, &To::SetUInt64, bits); break;
      case Field::CPPTYPE_FLOAT: put(&To::AddFloat, &To::SetFloat, static_cast<float>(fraction)); break;
      case Field::CPPTYPE_DOUBLE: put(&To::AddDouble, &To::SetDouble, fraction); break;
      case Field::CPPTYPE_STRING: put(&To::AddString, &To::SetString, text()); break;
      case Field::CPPTYPE_ENUM: {
        const google::protobuf::EnumDescriptor& names = *field.enum_type();
        to.SetEnum(&message, &field,
                   names.value(static_cast<int>(below(random_, static_cast<std::size_t>(names.value_count())))));
        break;
      }
      default: throw std::logic_error("a field of a new kind: " + field.full_name());
    }
  }

  /// Shapes and pairs that the walker does not refuse.
  void make_legal(schema::TensorProto& tensor) {
    tensor.set_data_type(static_cast<std::int32_t>(below(random_, 30)));
    for (int i = 0; i < tensor.dims_size(); ++i) tensor.set_dims(i, static_cast<std::int64_t>(below(random_, 300)));
    for (int i = 0; i < tensor.external_data_size(); ++i) {
      static constexpr std::array keys = {"location", "length", "other", "offset"};
      tensor.mutable_external_data(i)->set_key(keys.at(static_cast<std::size_t>(i)));
    }
  }

  /// Adds fields with numbers above those of the schema, because protobuf sends unknown fields after known ones.
  void add_unknown(google::protobuf::UnknownFieldSet& fields) {
    const int number = 5000 + static_cast<int>(below(random_, 100));
    switch (below(random_, 4)) {
      case 0: fields.AddVarint(number, any_bits()); break;
      case 1: fields.AddFixed32(number, static_cast<std::uint32_t>(any_bits())); break;
      case 2: fields.AddFixed64(number, any_bits()); break;
      default: fields.AddLengthDelimited(number, text()); break;
    }
  }

  /// Returns small and large numbers.
  std::uint64_t any_bits() {
    const std::uint64_t bits = (std::uint64_t{random_()} << 32U) | random_();
    return bits >> below(random_, 64);
  }

  /// Returns a text that is often short, and sometimes so long that the varint of its length grows.
  std::string text() {
    static constexpr std::array<std::size_t, 6> longest = {1, 5, 20, 130, 300, 17000};
    std::string out(below(random_, longest.at(std::min(below(random_, 6), below(random_, 6)))), 'a');
    for (char& c : out) c = static_cast<char>('a' + below(random_, 26));
    return out;
  }

  Random random_;
  std::size_t messages_ = 0;
};

/// Appends each value of a packed run as a separate field.
inline void append_unpacked(Message& out, const google::protobuf::FieldDescriptor& field, const std::string& run) {
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(run.data()),
                                            static_cast<int>(run.size()));
  const auto number = static_cast<std::uint32_t>(field.number());
  while (static_cast<std::size_t>(in.CurrentPosition()) < run.size()) {
    std::uint64_t eight = 0;
    std::uint32_t four = 0;
    if (field.cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_FLOAT && in.ReadLittleEndian32(&four)) {
      out.fixed32(number, four);
    } else if (field.cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_DOUBLE && in.ReadLittleEndian64(&eight)) {
      out.fixed64(number, eight);
    } else if (in.ReadVarint64(&eight)) {
      out.padded_varint(number, eight, eight % 11);
    }
  }
}

/// Returns a random order of the fields, in which fields with the same number keep their order.
inline std::vector<int> shuffled_order(const google::protobuf::UnknownFieldSet& fields, Random& random) {
  std::vector<int> order(static_cast<std::size_t>(fields.field_count()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::shuffle(order.begin(), order.end(), random);
  std::map<int, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < order.size(); ++i) places[fields.field(order[i]).number()].push_back(i);
  std::map<int, std::size_t> used;
  for (int i = 0; i < fields.field_count(); ++i) {
    const int number = fields.field(i).number();
    order[places[number][used[number]++]] = i;
  }
  return order;
}

/// Encodes a message differently at every level: fields in a different order, packed runs split, lengths padded.
inline Message respelt(const std::string& bytes, const google::protobuf::Descriptor& type, Random& random) {
  google::protobuf::UnknownFieldSet fields;
  if (!fields.ParseFromString(bytes)) throw std::logic_error("no message");
  Message out;
  for (const int i : shuffled_order(fields, random)) {
    const google::protobuf::UnknownField& field = fields.field(i);
    const auto number = static_cast<std::uint32_t>(field.number());
    const google::protobuf::FieldDescriptor* known = type.FindFieldByNumber(field.number());
    switch (field.type()) {
      case google::protobuf::UnknownField::TYPE_VARINT:
        out.padded_varint(number, field.varint(), below(random, 11));
        break;
      case google::protobuf::UnknownField::TYPE_FIXED32: out.fixed32(number, field.fixed32()); break;
      case google::protobuf::UnknownField::TYPE_FIXED64: out.fixed64(number, field.fixed64()); break;
      default:
        if (known != nullptr && known->message_type() != nullptr) {
          const Message inner = respelt(field.length_delimited(), *known->message_type(), random);
          out.padded_length_message(number, inner, below(random, 6));
        } else if (known != nullptr && known->is_packed() && below(random, 2) == 0) {
          append_unpacked(out, *known, field.length_delimited());
        } else {
          out.padded_length_bytes(number, blob(field.length_delimited()), below(random, 6));
        }
    }
  }
  return out;
}

inline Blob respelt_model(const Blob& model, std::uint32_t seed) {
  Random random(seed);
  return respelt(text_of(model), *schema::ModelProto::descriptor(), random).take();
}

}  // namespace onnxar::testing
