// The ONNX part of mutations.h: changes the fields of a model's messages, and takes fields from another model.
#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/model_tree.h"
#include "fuzz/mutations.h"

namespace onnxar::fuzz {
namespace {

constexpr std::uint32_t tensor_dims = 1, tensor_type = 2, tensor_raw = 9, tensor_external = 13, tensor_location = 14;

Field text_field(std::uint32_t number, std::string_view text) { return {number, delimited, 0, as_bytes(text)}; }
Field number_field(std::uint32_t number, std::uint64_t value) { return {number, varint, value}; }

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
