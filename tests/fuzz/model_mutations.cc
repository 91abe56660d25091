#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/mutations.h"
#include "onnxar/bytes.h"

namespace onnxar::fuzz {
namespace {

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
constexpr Known fields[] = {
    {Message::model, 1, Message::scalar},      {Message::model, 7, Message::graph},
    {Message::model, 8, Message::pair},        {Message::model, 14, Message::pair},
    {Message::model, 20, Message::training},   {Message::model, 25, Message::function},
    {Message::graph, 1, Message::node},        {Message::graph, 2, Message::scalar},
    {Message::graph, 5, Message::tensor},      {Message::graph, 11, Message::value},
    {Message::graph, 12, Message::value},      {Message::graph, 13, Message::value},
    {Message::graph, 14, Message::scalar},     {Message::graph, 15, Message::sparse},
    {Message::node, 1, Message::scalar},       {Message::node, 2, Message::scalar},
    {Message::node, 4, Message::scalar},       {Message::node, 5, Message::attribute},
    {Message::node, 7, Message::scalar},       {Message::attribute, 1, Message::scalar},
    {Message::attribute, 5, Message::tensor},  {Message::attribute, 6, Message::graph},
    {Message::attribute, 10, Message::tensor}, {Message::attribute, 11, Message::graph},
    {Message::attribute, 20, Message::scalar}, {Message::attribute, 22, Message::sparse},
    {Message::attribute, 23, Message::sparse}, {Message::sparse, 1, Message::tensor},
    {Message::sparse, 2, Message::tensor},     {Message::sparse, 3, Message::scalar},
    {Message::function, 7, Message::node},     {Message::function, 11, Message::attribute},
    {Message::training, 1, Message::graph},    {Message::training, 2, Message::graph},
    {Message::tensor, 1, Message::scalar},     {Message::tensor, 2, Message::scalar},
    {Message::tensor, 3, Message::pair},       {Message::tensor, 4, Message::scalar},
    {Message::tensor, 5, Message::scalar},     {Message::tensor, 6, Message::scalar},
    {Message::tensor, 7, Message::scalar},     {Message::tensor, 8, Message::scalar},
    {Message::tensor, 9, Message::scalar},     {Message::tensor, 10, Message::scalar},
    {Message::tensor, 11, Message::scalar},    {Message::tensor, 13, Message::pair},
    {Message::tensor, 14, Message::scalar},    {Message::tensor, 16, Message::pair},
    {Message::pair, 1, Message::scalar},       {Message::pair, 2, Message::scalar},
    {Message::value, 1, Message::scalar},      {Message::value, 2, Message::value},
};

constexpr std::uint32_t tensor_dims = 1, tensor_type = 2, tensor_raw = 9, tensor_external = 13, tensor_location = 14;
constexpr std::uint32_t varint = 0, fixed64 = 1, delimited = 2, fixed32 = 5;
constexpr int deepest = 40;

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

Message type_of(Message in, std::uint32_t number) {
  const auto* const known =
      std::ranges::find_if(fields, [&](const Known& each) { return each.in == in && each.number == number; });
  return known == std::end(fields) ? Message::scalar : known->type;
}

// --- Parsing and serialising -----------------------------------------------------------------------------------------

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

void put_number(Blob& out, std::size_t at, std::uint64_t value, std::size_t padding = 0) {
  const Encoded number(value, padding);
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), number.bytes.begin(),
             number.bytes.begin() + static_cast<std::ptrdiff_t>(number.size));
}

void serialise(const Fields& all, Blob& out);

/// The content goes first, and then the length before it: nothing is written twice.
void serialise_delimited(const Field& field, Blob& out) {
  const std::size_t begin = out.size();
  if (field.type == Message::scalar) {
    out.insert(out.end(), field.bytes.begin(), field.bytes.end());
  } else {
    serialise(field.inner, out);
  }
  put_number(out, begin, out.size() - begin, field.padding);
}

void serialise(const Fields& all, Blob& out) {
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

Blob serialised(const Fields& all, std::size_t about) {
  Blob out;
  out.reserve(about);
  serialise(all, out);
  return out;
}

Field text_field(std::uint32_t number, std::string_view text) { return {number, delimited, 0, as_bytes(text)}; }
Field number_field(std::uint32_t number, std::uint64_t value) { return {number, varint, value}; }

// --- Mutations -------------------------------------------------------------------------------------------------------

/// Every list of fields in the tree, with the type of its message.
struct Place {
  Fields* fields;
  Message type;
};

void collect(Fields& all, Message type, std::vector<Place>& places) {
  places.push_back({&all, type});
  for (Field& field : all) {
    if (field.type != Message::scalar) collect(field.inner, field.type, places);
  }
}

/// Changes the fields of a model. Keeps the bytes that fields get, as long as it lives itself.
class Mutation {
 public:
  Mutation(Fields& model, Random& random) : model_(model), random_(random) {}

  void run() {
    places_.clear();
    collect(model_, Message::model, places_);
    // Tensors are most of what this project reads, so they are changed as often as everything else.
    const Place tensor = one_in(random_, 2) ? place_of(Message::tensor) : Place{};
    if (tensor.fields != nullptr) return change_tensor(*tensor.fields);
    const Place place = places_[below(random_, places_.size())];
    change(*place.fields, place.type);
  }

  /// Puts a field of `other`'s tree where a message of its type may have it.
  void graft(Mutation& other) {
    for (Mutation* each : {this, &other}) collect(each->model_, Message::model, each->places_);
    const Place from = other.places_[below(other.random_, other.places_.size())];
    const Place to = place_of(from.type);
    if (from.fields->empty() || to.fields == nullptr) return;
    const Field field = (*from.fields)[below(random_, from.fields->size())];
    to.fields->insert(at(*to.fields), field);
  }

 private:
  Place place_of(Message type) {
    std::vector<Place> found;
    std::ranges::copy_if(places_, std::back_inserter(found), [type](const Place& place) { return place.type == type; });
    return found.empty() ? Place{} : found[below(random_, found.size())];
  }

  Fields::iterator at(Fields& all) { return all.begin() + static_cast<std::ptrdiff_t>(below(random_, all.size() + 1)); }

  void change(Fields& all, Message type) {
    if (all.empty() || one_in(random_, 6)) return add(all, type);
    const std::size_t i = below(random_, all.size());
    const auto chosen = all.begin() + static_cast<std::ptrdiff_t>(i);
    switch (below(random_, 8)) {
      case 0: all.erase(chosen); break;
      case 1: all.insert(at(all), Field(*chosen)); break;
      case 2: std::swap(*chosen, all[below(random_, all.size())]); break;
      case 3: copy_elsewhere(*chosen, type); break;
      case 4: chosen->padding = one_in(random_, 4) ? 1 + below(random_, 3) : 0; break;
      default: change_value(*chosen);
    }
  }

  /// Adds a field that the message may have, with a value of any kind.
  void add(Fields& all, Message type) {
    std::vector<Known> known;
    std::ranges::copy_if(fields, std::back_inserter(known), [type](const Known& each) { return each.in == type; });
    if (known.empty() || one_in(random_, 16)) {
      all.insert(at(all), number_field(1 + static_cast<std::uint32_t>(below(random_, 40)), odd_number(random_, 0)));
      return;
    }
    const Known chosen = known[below(random_, known.size())];
    if (chosen.type != Message::scalar) {
      const Place like = place_of(chosen.type);  // a copy of a message from elsewhere, or an empty one
      all.insert(at(all),
                 Field{chosen.number, delimited, 0, {}, chosen.type, like.fields == nullptr ? Fields() : *like.fields});
      return;
    }
    const bool number = one_in(random_, 2);
    all.insert(at(all),
               number ? number_field(chosen.number, odd_number(random_, 1)) : text_field(chosen.number, word()));
  }

  void copy_elsewhere(const Field& field, Message type) {
    const Place to = place_of(type);
    if (to.fields != nullptr) to.fields->insert(at(*to.fields), Field(field));
  }

  void change_value(Field& field) {
    if (field.wire_type == varint) {
      field.value = odd_number(random_, field.value);
    } else if (field.type == Message::scalar) {
      const bool fixed = field.wire_type != delimited;
      if (!fixed && one_in(random_, 4)) {
        field.bytes = as_bytes(word());
        return;
      }
      Blob changed = mutate_bytes({field.bytes.begin(), field.bytes.end()});
      if (fixed) changed.resize(field.bytes.size());
      field.bytes = kept(std::move(changed));
    } else {
      change(field.inner, field.type);
    }
  }

  Bytes kept(Blob bytes) {
    kept_.push_back(std::move(bytes));
    return kept_.back();
  }

  std::string_view word() {
    static constexpr std::string_view words[] = {
        // names, of operators too
        "", "a", "b", "w", "x", "y", "in", "Constant", "If", "Loop", "\xff",
        // keys
        "location", "offset", "length", "checksum", "onnxar.link.archive", "onnxar.model.name",
        // locations
        "data.bin", "__MODEL_PROTO", "model.onnx", "m.onnxar", "../a", "/",
        // numbers
        "0", "1", "4", "12", "64", "18446744073709551615", "18446744073709551616", "-1", "00"};
    return pick(random_, words);
  }

  void change_tensor(Fields& tensor) {
    switch (below(random_, 5)) {
      case 0: return change(tensor, Message::tensor);
      case 1: return change_link(tensor);
      case 2: return change_dims(tensor);
      case 3: return fit_dims(tensor);
      default: return change_form(tensor);
    }
  }

  void change_link(Fields& tensor) {
    std::vector<Field*> pairs;
    for (Field& field : tensor) {
      if (field.number == tensor_external && field.type == Message::pair) pairs.push_back(&field);
    }
    if (pairs.empty() || one_in(random_, 4)) {
      Field pair{tensor_external, delimited, 0, {}, Message::pair, {text_field(1, word()), text_field(2, word())}};
      tensor.insert(at(tensor), std::move(pair));
      return;
    }
    Field& pair = *pairs[below(random_, pairs.size())];
    if (pair.inner.empty()) return;
    Field& part = pair.inner[one_in(random_, 4) ? 0 : pair.inner.size() - 1];
    switch (below(random_, 4)) {
      case 0: part = text_field(part.number, word()); break;
      case 1: part = number_as_text(part.number); break;
      default: change_value(part);
    }
  }

  Field number_as_text(std::uint32_t number) {
    const std::string digits = std::to_string(odd_number(random_, 4));
    const Bytes bytes = as_bytes(digits);
    return {number, delimited, 0, kept({bytes.begin(), bytes.end()})};
  }

  void change_dims(Fields& tensor) {
    for (Field& field : tensor) {
      if (field.number == tensor_dims && one_in(random_, 2)) return change_value(field);
    }
    tensor.insert(at(tensor), number_field(tensor_dims, odd_number(random_, 1)));
  }

  /// Makes dims and type fit raw_data again, after its size changed.
  void fit_dims(Fields& tensor) {
    const auto raw = std::ranges::find(tensor, tensor_raw, &Field::number);
    if (raw == tensor.end() || raw->wire_type != delimited) return;
    constexpr std::uint64_t uint8 = 2;
    const std::uint64_t size = raw->bytes.size();
    std::erase_if(tensor,
                  [](const Field& field) { return field.number == tensor_dims || field.number == tensor_type; });
    tensor.insert(tensor.begin(), {number_field(tensor_dims, size), number_field(tensor_type, uint8)});
  }

  /// Raw data becomes external or the other way round; or the data moves to a typed field.
  void change_form(Fields& tensor) {
    static constexpr std::uint32_t typed[] = {4, 5, 6, 7, 10, 11, tensor_raw};
    const auto has = [&](std::uint32_t number) { return std::ranges::find(tensor, number, &Field::number); };
    if (const auto raw = has(tensor_raw); raw != tensor.end() && one_in(random_, 2)) {
      raw->number = pick(random_, typed);
      return;
    }
    if (const auto location = has(tensor_location); location != tensor.end()) {
      location->value = 1 - (location->value & 1U);
      return;
    }
    tensor.push_back(number_field(tensor_location, 1));
  }

  Fields& model_;
  Random& random_;
  std::vector<Place> places_;
  std::vector<Blob> kept_;  // to move them as it grows does not move their bytes
};

}  // namespace

Blob mutate_model(const Blob& model, Random& random) {
  auto tree = Parser(model).message(Message::model, 0);
  if (!tree) return mutate_bytes(model);
  Mutation mutation(*tree, random);
  for (std::size_t times = 1 + below(random, 3); times != 0; --times) mutation.run();
  return serialised(*tree, model.size() + 64);
}

Blob cross_models(const Blob& model, const Blob& other, Random& random) {
  auto one = Parser(model).message(Message::model, 0);
  auto two = Parser(other).message(Message::model, 0);
  if (!one || !two) return {};
  Mutation from(*two, random);
  Mutation(*one, random).graft(from);
  return serialised(*one, model.size() + other.size());
}

}  // namespace onnxar::fuzz
