// Makes the table of a model's payloads, finds what its tensors link to, and adds payloads.
#include "model/payload_table.h"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/external_tensor.h"
#include "archive/tensor_text.h"
#include "base/annotated.h"
#include "base/text.h"
#include "convert/loaded_model.h"
#include "model/messages.h"
#include "model/payload_memory.h"
#include "onnx/external_data.h"
#include "onnx/tensor_values.h"
#include "onnx/tensor_view.h"
#include "onnx/typed_data.h"
#include "onnxar/model/model.h"
#include "onnxar/resolve.h"

namespace onnxar {
namespace {

using base::concat;

/// `held` names the place of the bytes in an error: "raw_data holds".
void check_size(const schema::TensorProto& tensor, std::uint64_t size, std::string_view held) {
  const auto expected = payload_size(type_of(tensor), dims_of(tensor));
  if (!expected || *expected == size) return;
  throw onnx::length_fault(concat(held, " ", size, " bytes"), type_of(tensor), *expected);
}

/// Returns the payload's bytes if their number fits type and dimensions: the message may have been edited since
/// loading, and loading keeps tensors that lack a type.
ByteSpan fitting(const schema::TensorProto& tensor, const Payload& payload) {
  onnx::prove_type(view_of(tensor_message(tensor)));
  check_size(tensor, payload.size(), "its payload has");
  return payload.share();
}

/// Annotates errors with the tensor's name. The position of a message in the model is unknown.
base::Annotation name_of(const schema::TensorProto& tensor) {
  return {.prefix = concat("tensor ", base::quoted(tensor.name())), .place = Place{}};
}

/// Returns the data of a tensor that is not linked. raw_data becomes a view of the message. Typed data goes through the
/// wire layer, which has the only implementation of its rules, and therefore needs a serialised message.
ByteSpan inline_payload(const schema::TensorProto& tensor) {
  const onnx::TensorView message = view_of(tensor_message(tensor));
  onnx::prove_type(message);
  onnx::prove_value_fields(message);
  if (const Bytes raw = as_bytes(tensor.raw_data()); !raw.empty()) {
    check_size(tensor, raw.size(), "raw_data holds");
    return ByteSpan::borrow(raw);
  }
  const std::vector<std::byte> bytes = serialised(tensor);
  const onnx::TensorView view = onnx::read_tensor(bytes, {0, bytes.size()});
  onnx::prove_values(bytes, view);
  if (view.type == DataType::string) onnx::refuse_conversion(view);
  if (view.expected_size() == 0) return {};
  if (const auto source = onnx::typed_data_source(bytes, view)) return gathered(*source);
  onnx::refuse_conversion(view);
}

}  // namespace

detail::Owned<Model::Parts> PayloadTable::parts_of(LoadedModel loaded, const LoadOptions& options, bool no_copy) {
  auto parts = detail::own<Model::Parts>();
  parts->options = options;
  parse(parts->proto, loaded.skeleton);
  loaded.skeleton = {};  // frees the memory before payloads are copied
  prefetch_payloads(loaded, options.prefetch);
  own_payloads(loaded, no_copy ? Ownership::decoded : Ownership::all, options.threads);
  parts->loaded = std::move(loaded);
  return parts;
}

LoadedModel& PayloadTable::of(Model& model) { return model.parts_->loaded; }

const Payload& PayloadTable::linked(const LoadedModel& model, const schema::TensorProto& tensor) {
  const std::string_view location = location_of(tensor);
  if (const Payload* payload = model.payload_at(location)) return *payload;
  if (onnx::is_memory_location(location)) {
    throw Error(Code::onnx_external_marker,
                concat("tensor ", base::quoted(tensor.name()), " is linked to ", base::quoted(location),
                       ", a payload that another model holds, or that was released"));
  }
  throw Error(Code::usage_not_loaded, not_loaded_text(concat("tensor ", base::quoted(tensor.name())), location), {}, {},
              {Hint::load_or_set_payload});
}

ByteSpan PayloadTable::payload(const LoadedModel& model, const schema::TensorProto& tensor) {
  const Payload* found = is_linked(tensor) ? &linked(model, tensor) : nullptr;
  return base::annotated([&] { return name_of(tensor); },
                         [&] { return found ? fitting(tensor, *found) : inline_payload(tensor); });
}

void PayloadTable::set(Model& model, schema::TensorProto& tensor, Payload payload) {
  if (type_of(tensor) == DataType::string) {
    throw Error(Code::onnx_external_string,
                concat("tensor ", base::quoted(tensor.name()), ": strings have no payload; set string_data"));
  }
  // Checked first, so that a wrong size leaves the tensor with the data that it had.
  base::annotated([&] { return name_of(tensor); }, [&] { check_size(tensor, payload.size(), "given:"); });
  // Always a new row: other messages may be copies of this one, and share its old payload.
  std::vector<Payload>& payloads = of(model).payloads;
  payloads.push_back(std::move(payload));
  const std::string location = onnx::memory_location(of(model).id, payloads.size() - 1);
  detail::write_link(tensor, location, 0, payloads.back().size());
}

void PayloadTable::share(Model& model, schema::TensorProto& tensor, const Model& other,
                         const schema::TensorProto& linked) {
  static_cast<void>(other.payload(linked));  // the message may not fit its payload
  const LoadedModel& from = other.parts_->loaded;
  set(model, tensor, PayloadTable::linked(from, linked));
  auto& kept = of(model).further_sources;
  if (from.source && (kept.empty() || kept.back() != from.source)) kept.push_back(from.source);
}

}  // namespace onnxar
