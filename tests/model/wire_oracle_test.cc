// Protobuf as the oracle: on models of all shapes, the wire layer finds the tensors that protobuf's reflection finds,
// and its edits are what protobuf's own edits give.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/unknown_field_set.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "onnx/rewrite.h"
#include "onnxar/onnx.pb.h"
#include "support/temp_dir.h"
#include "support/wire_builder.h"

namespace onnxar::testing {
namespace {

namespace pb = google::protobuf;
using schema::ModelProto;
using schema::TensorProto;
using Random = std::mt19937;

std::size_t below(Random& random, std::size_t end) { return random() % end; }

// --- models of all shapes -------------------------------------------------------------------------------------------

/// Fills messages through reflection, so that a field that the schema gets is filled, too.
class ModelMaker {
 public:
  explicit ModelMaker(std::uint32_t seed) : random_(seed) {}

  ModelProto make() {
    ModelProto model;
    fill(model, 0);
    model.mutable_graph();
    return model;
  }

 private:
  void fill(pb::Message& message, std::size_t depth) {
    const pb::Descriptor& type = *message.GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) fill_field(message, *type.field(i), depth);
    if (type.full_name() == TensorProto::descriptor()->full_name()) make_legal(dynamic_cast<TensorProto&>(message));
    if (below(random_, 4) == 0) add_unknown(*message.GetReflection()->MutableUnknownFields(&message));
  }

  void fill_field(pb::Message& message, const pb::FieldDescriptor& field, std::size_t depth) {
    const bool nested = field.cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE;
    // Way down, fewer and fewer messages, or a model would have no end.
    if (nested && (depth > 9 || messages_ > 400 || below(random_, 2 + depth) > 2)) return;
    const std::size_t count = field.is_repeated() ? below(random_, 4) : below(random_, 2);
    for (std::size_t i = 0; i < count; ++i) {
      if (nested) {
        ++messages_;
        const pb::Reflection& reflection = *message.GetReflection();
        fill(field.is_repeated() ? *reflection.AddMessage(&message, &field)
                                 : *reflection.MutableMessage(&message, &field),
             depth + 1);
      } else {
        fill_scalar(message, field);
      }
    }
  }

  void fill_scalar(pb::Message& message, const pb::FieldDescriptor& field) {
    const pb::Reflection& to = *message.GetReflection();
    const bool many = field.is_repeated();
    const std::uint64_t bits = any_bits();
    using Field = pb::FieldDescriptor;
    switch (field.cpp_type()) {
      case Field::CPPTYPE_INT32: {
        const auto value = static_cast<std::int32_t>(bits);
        many ? to.AddInt32(&message, &field, value) : to.SetInt32(&message, &field, value);
        break;
      }
      case Field::CPPTYPE_INT64: {
        const auto value = static_cast<std::int64_t>(bits);
        many ? to.AddInt64(&message, &field, value) : to.SetInt64(&message, &field, value);
        break;
      }
      case Field::CPPTYPE_UINT64:
        many ? to.AddUInt64(&message, &field, bits) : to.SetUInt64(&message, &field, bits);
        break;
      case Field::CPPTYPE_FLOAT: {
        const float value = static_cast<float>(bits % 1000) / 8;
        many ? to.AddFloat(&message, &field, value) : to.SetFloat(&message, &field, value);
        break;
      }
      case Field::CPPTYPE_DOUBLE: {
        const double value = static_cast<double>(bits % 1000) / 8;
        many ? to.AddDouble(&message, &field, value) : to.SetDouble(&message, &field, value);
        break;
      }
      case Field::CPPTYPE_ENUM: {
        const pb::EnumDescriptor& names = *field.enum_type();
        const auto* value = names.value(static_cast<int>(below(random_, static_cast<std::size_t>(names.value_count()))));
        to.SetEnum(&message, &field, value);
        break;
      }
      case Field::CPPTYPE_STRING: {
        const std::string value = text();
        many ? to.AddString(&message, &field, value) : to.SetString(&message, &field, value);
        break;
      }
      default: FAIL() << "the schema has a field of a new kind: " << field.full_name();
    }
  }

  /// Shapes and pairs that the walker does not refuse.
  void make_legal(TensorProto& tensor) {
    tensor.set_data_type(static_cast<std::int32_t>(below(random_, 30)));
    for (int i = 0; i < tensor.dims_size(); ++i) tensor.set_dims(i, static_cast<std::int64_t>(below(random_, 300)));
    for (int i = 0; i < tensor.external_data_size(); ++i) {
      static constexpr std::array keys = {"location", "length", "other", "offset"};
      tensor.mutable_external_data(i)->set_key(keys.at(static_cast<std::size_t>(i)));
    }
  }

  /// Numbers above all that the schema knows, as protobuf sends unknown fields behind the known ones.
  void add_unknown(pb::UnknownFieldSet& fields) {
    const int number = 5000 + static_cast<int>(below(random_, 100));
    switch (below(random_, 4)) {
      case 0: fields.AddVarint(number, any_bits()); break;
      case 1: fields.AddFixed32(number, static_cast<std::uint32_t>(any_bits())); break;
      case 2: fields.AddFixed64(number, any_bits()); break;
      default: fields.AddLengthDelimited(number, text()); break;
    }
  }

  /// Small and large numbers alike.
  std::uint64_t any_bits() {
    const std::uint64_t bits = (std::uint64_t{random_()} << 32U) | random_();
    return bits >> below(random_, 64);
  }

  /// Often short, at times past the borders of a length's varint.
  std::string text() {
    static constexpr std::array<std::size_t, 6> longest = {1, 5, 20, 130, 300, 17000};
    std::string out(below(random_, longest.at(std::min(below(random_, 6), below(random_, 6)))), 'a');
    for (char& c : out) c = static_cast<char>('a' + below(random_, 26));
    return out;
  }

  Random random_;
  std::size_t messages_ = 0;
};

// --- the same model, spelt otherwise --------------------------------------------------------------------------------

/// The values of a packed run, each as a field of its own.
void append_unpacked(Message& out, const pb::FieldDescriptor& field, const std::string& run) {
  pb::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(run.data()), static_cast<int>(run.size()));
  const auto number = static_cast<std::uint32_t>(field.number());
  while (static_cast<std::size_t>(in.CurrentPosition()) < run.size()) {
    std::uint64_t eight = 0;
    std::uint32_t four = 0;
    if (field.cpp_type() == pb::FieldDescriptor::CPPTYPE_FLOAT && in.ReadLittleEndian32(&four)) {
      out.fixed32(number, four);
    } else if (field.cpp_type() == pb::FieldDescriptor::CPPTYPE_DOUBLE && in.ReadLittleEndian64(&eight)) {
      out.fixed64(number, eight);
    } else if (in.ReadVarint64(&eight)) {
      out.padded_varint(number, eight, eight % 11);
    }
  }
}

/// Which field comes at each place: any order, but those of one number keep theirs.
std::vector<int> shuffled_order(const pb::UnknownFieldSet& fields, Random& random) {
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

/// Fields in another order, packed runs taken apart, lengths padded, at every level.
Message respelt(const std::string& bytes, const pb::Descriptor& type, Random& random) {
  pb::UnknownFieldSet fields;
  if (!fields.ParseFromString(bytes)) throw std::logic_error("no message");
  Message out;
  for (const int i : shuffled_order(fields, random)) {
    const pb::UnknownField& field = fields.field(i);
    const auto number = static_cast<std::uint32_t>(field.number());
    const pb::FieldDescriptor* known = type.FindFieldByNumber(field.number());
    switch (field.type()) {
      case pb::UnknownField::TYPE_VARINT: out.padded_varint(number, field.varint(), below(random, 11)); break;
      case pb::UnknownField::TYPE_FIXED32: out.fixed32(number, field.fixed32()); break;
      case pb::UnknownField::TYPE_FIXED64: out.fixed64(number, field.fixed64()); break;
      default:
        if (known != nullptr && known->message_type() != nullptr) {
          const Message inner = respelt(field.length_delimited(), *known->message_type(), random);
          out.padded_length_message(number, inner, below(random, 6));
        } else if (known != nullptr && known->is_packed() && below(random, 2) == 0) {
          append_unpacked(out, *known, field.length_delimited());
        } else {
          out.padded_length_bytes(number, as_bytes(field.length_delimited()), below(random, 6));
        }
    }
  }
  return out;
}

Blob respelt_model(const Blob& model, std::uint32_t seed) {
  Random random(seed);
  return respelt(text_of(model), *ModelProto::descriptor(), random).take();
}

// --- what both sides say --------------------------------------------------------------------------------------------

/// One tensor, as each side tells it.
struct Told {
  std::string name;
  std::int64_t type = 0;
  std::vector<std::int64_t> dims;
  std::optional<std::string> raw_data;
  bool external = false;
  bool segment = false;
  std::map<std::string, std::string> pairs;  // of external_data, but for unknown keys
  bool operator==(const Told&) const = default;
};

void PrintTo(const Told& told, std::ostream* out) {
  *out << told.name << " type " << told.type << " dims " << ::testing::PrintToString(told.dims) << " raw "
       << (told.raw_data ? std::to_string(told.raw_data->size()) : "none") << " external " << told.external;
}

using Tensors = std::map<std::string, Told>;  // by path

Told told_by(const onnx::TensorSite& site) {
  const onnx::TensorView& view = site.tensor;
  Told told{std::string(view.name), static_cast<std::int64_t>(view.type), view.dims, {}, view.is_external(),
            view.segment,           {}};
  if (view.raw_data) told.raw_data = std::string(as_text(view.raw_data->of(site.model)));
  const auto pair = [&told](const char* key, const std::optional<std::string_view>& value) {
    if (value) told.pairs.emplace(key, *value);
  };
  pair("location", view.external.location);
  pair("offset", view.external.offset);
  pair("length", view.external.length);
  pair("checksum", view.external.checksum);
  return told;
}

Told told_by(const TensorProto& tensor) {
  Told told{tensor.name(), tensor.data_type(), {tensor.dims().begin(), tensor.dims().end()},
            {},            {},                 {},
            {}};
  if (tensor.has_raw_data()) told.raw_data = tensor.raw_data();
  told.external = tensor.data_location() == TensorProto::EXTERNAL;
  told.segment = tensor.has_segment();
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() != "other") told.pairs.emplace(entry.key(), entry.value());
  }
  return told;
}

std::string path_of(const onnx::TensorSite& site) {
  std::string path;
  for (const onnx::Level& level : site.levels) {
    path += "." + std::string(level.label) + (level.repeated ? "[" + std::to_string(level.index) + "]" : "");
  }
  return path;
}

/// Calls `visit` with the path of every TensorProto anywhere below `message`, and the tensor itself.
void visit_tensors(pb::Message& message, const std::string& path,
                   const std::function<void(const std::string&, TensorProto&)>& visit) {
  if (message.GetDescriptor()->full_name() == TensorProto::descriptor()->full_name()) {
    visit(path, dynamic_cast<TensorProto&>(message));
    return;
  }
  const pb::Reflection& reflection = *message.GetReflection();
  std::vector<const pb::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const pb::FieldDescriptor* field : fields) {
    if (field->cpp_type() != pb::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const std::string here = path + "." + field->name();
    if (!field->is_repeated()) {
      visit_tensors(*reflection.MutableMessage(&message, field), here, visit);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      const std::string element = here + "[" + std::to_string(i) + "]";
      visit_tensors(*reflection.MutableRepeatedMessage(&message, field, i), element, visit);
    }
  }
}

Tensors told_by_the_wire(const Blob& model) {
  Tensors tensors;
  onnx::walk_tensors(model, [&](const onnx::TensorSite& site) {
    EXPECT_TRUE(tensors.emplace(path_of(site), told_by(site)).second) << path_of(site);
  });
  return tensors;
}

Tensors told_by_protobuf(ModelProto& model) {
  Tensors tensors;
  visit_tensors(model, "", [&](const std::string& path, TensorProto& tensor) {
    tensors.emplace(path, told_by(tensor));
  });
  return tensors;
}

ModelProto parsed(const Blob& bytes) {
  ModelProto model;
  if (!model.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) throw std::logic_error("no model");
  return model;
}

Blob serialized(const ModelProto& model) {
  std::string text;
  pb::io::StringOutputStream out(&text);
  pb::io::CodedOutputStream coded(&out);
  coded.SetSerializationDeterministic(true);
  EXPECT_TRUE(model.SerializeToCodedStream(&coded));
  coded.Trim();
  return blob(text);
}

// --- edits on both sides --------------------------------------------------------------------------------------------

/// What happens to the tensor at a path: a choice that both sides make alike.
struct Choice {
  enum : std::uint8_t { keep, link, put_inline } action = keep;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
  std::string payload;
};

Choice choice_for(const std::string& path, std::uint32_t seed) {
  std::seed_seq mix(path.begin(), path.end());
  std::vector<std::uint32_t> words(1);
  mix.generate(words.begin(), words.end());
  Random random(words[0] ^ seed);
  Choice choice;
  const std::size_t action = below(random, 3);
  choice.action = action == 0 ? Choice::keep : action == 1 ? Choice::link : Choice::put_inline;
  choice.offset = below(random, 2) * 64;
  if (below(random, 3) != 0) choice.length = below(random, 100000);
  choice.payload = text_of(pattern(below(random, 2) == 0 ? below(random, 40) : below(random, 20000), seed));
  return choice;
}

class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] std::uint64_t size() const override { return text_.size(); }
  void read(const ByteSink& sink) const override { sink(as_bytes(text_)); }

 private:
  std::string text_;
};

Blob edited_on_the_wire(const Blob& model, std::uint32_t seed) {
  const auto decide = [seed](const onnx::TensorSite& site) {
    const Choice choice = choice_for(path_of(site), seed);
    if (choice.action == Choice::keep) return onnx::TensorEdit::keep();
    if (choice.action == Choice::link) return onnx::TensorEdit::link_to({"w.bin", choice.offset, choice.length});
    return onnx::TensorEdit::put_inline(std::make_shared<TextSource>(choice.payload));
  };
  return onnx::rewrite_tensors(model, decide).flat();
}

void add_pair(TensorProto& tensor, const std::string& key, const std::string& value) {
  auto& entry = *tensor.add_external_data();
  entry.set_key(key);
  entry.set_value(value);
}

void edit_by_protobuf(TensorProto& tensor, const Choice& choice) {
  if (choice.action == Choice::keep) return;
  for (const int number : {4, 5, 7, 9, 10, 11, 13, 14}) {
    tensor.GetReflection()->ClearField(&tensor, tensor.GetDescriptor()->FindFieldByNumber(number));
  }
  if (choice.action == Choice::put_inline) {
    tensor.set_raw_data(choice.payload);
    return;
  }
  add_pair(tensor, "location", "w.bin");
  if (choice.offset != 0) add_pair(tensor, "offset", std::to_string(choice.offset));
  if (choice.length) add_pair(tensor, "length", std::to_string(*choice.length));
  tensor.set_data_location(TensorProto::EXTERNAL);
}

/// Holds the wire layer against protobuf on one model: what it finds, and what its edits give.
void expect_agreement(const Blob& bytes, std::uint32_t seed) {
  ModelProto model = parsed(bytes);
  EXPECT_EQ(told_by_the_wire(bytes), told_by_protobuf(model));
  visit_tensors(model, "", [seed](const std::string& path, TensorProto& tensor) {
    edit_by_protobuf(tensor, choice_for(path, seed));
  });
  const ModelProto rewritten = parsed(edited_on_the_wire(bytes, seed));
  EXPECT_TRUE(pb::util::MessageDifferencer::Equals(rewritten, model));
  EXPECT_EQ(serialized(rewritten), serialized(model)) << "unknown fields or their order have changed";
}
