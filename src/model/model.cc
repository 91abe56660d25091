// Loads, changes and saves a model whose payloads lie beside its ModelProto.
#include "model/model.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "archive/external_tensor.h"
#include "base/annotated.h"
#include "base/text.h"
#include "convert/load.h"
#include "convert/open.h"
#include "convert/save.h"
#include "model/messages.h"
#include "model/payload_memory.h"
#include "model/text_parser.h"
#include "model/text_writer.h"
#include "onnx/external_data.h"
#include "onnx/tensor_values.h"
#include "onnx/tensor_view.h"
#include "onnx/typed_data.h"
#include "onnxar/model/model.h"
#include "onnxar/resolve.h"

namespace onnxar {
namespace {

using base::concat;

const Payload& linked_payload(const LoadedModel& model, const schema::TensorProto& tensor) {
  const std::string_view location = location_of(tensor);
  if (const Payload* payload = model.payload_at(location)) return *payload;
  if (onnx::is_memory_location(location)) {
    throw Error(Code::onnx_external_marker,
                concat("tensor ", base::quoted(tensor.name()), " is linked to ", base::quoted(location),
                       ", a payload that another model holds, or that was released"));
  }
  throw Error(Code::usage_not_loaded,
              concat("tensor ", base::quoted(tensor.name()), ": its data is in ", base::quoted(location),
                     ", which was not loaded"),
              {}, {}, {Hint::load_or_set_payload});
}

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

struct Model::Parts {
  LoadedModel loaded;  // its skeleton is empty: `proto` replaces it
  schema::ModelProto proto;
  LoadOptions options;

  /// Makes the parts of a freshly split model.
  static detail::Owned<Parts> of(LoadedModel loaded, const LoadOptions& options, bool no_copy) {
    auto parts = detail::own<Parts>();
    parts->options = options;
    parse(parts->proto, loaded.skeleton);
    loaded.skeleton = {};  // frees the memory before payloads are copied
    prefetch_payloads(loaded, options.prefetch);
    own_payloads(loaded, no_copy ? Ownership::decoded : Ownership::all, options.threads);
    parts->loaded = std::move(loaded);
    return parts;
  }
};

Model::Model() : parts_(detail::own<Parts>()) {
  parts_->loaded.id = new_model_id();
  // The limit protects against hostile files. Here, only the program itself can make tensors share bytes.
  parts_->loaded.max_expansion = std::numeric_limits<std::uint64_t>::max();
}
Model::Model(detail::Owned<Parts> parts) noexcept : parts_(std::move(parts)) {}

Model Model::load(const std::filesystem::path& path, const LoadOptions& options) {
  return base::annotated(path, [&] {
    LoadedModel loaded = load_model(path, ExternalPolicy::of(options), with_text_parser(options));
    return Model(Parts::of(std::move(loaded), options, options.no_copy.value_or(true)));
  });
}

Model Model::load(Bytes bytes, const LoadOptions& options) { return load(bytes, nullptr, options); }

Model Model::load(Bytes bytes, std::shared_ptr<const void> owner, const LoadOptions& options) {
  const bool no_copy = options.no_copy.value_or(owner != nullptr);
  const LoadOptions with_text = with_text_parser(options);
  LoadedModel loaded = load_model(source_of(bytes, std::move(owner), with_text), ExternalPolicy::of(options), options);
  return Model(Parts::of(std::move(loaded), options, no_copy));
}

schema::ModelProto& Model::proto() & noexcept { return parts_->proto; }
const schema::ModelProto& Model::proto() const& noexcept { return parts_->proto; }
const std::vector<Finding>& Model::remarks() const& noexcept { return parts_->loaded.remarks; }

std::map<std::string, schema::ModelProto> Model::further_graphs() const {
  std::map<std::string, schema::ModelProto> graphs;
  for (const LoadedGraph& graph : parts_->loaded.graphs) {
    parse(graphs[graph.name], graph.skeleton);
  }
  return graphs;
}

ByteSpan Model::payload(const schema::TensorProto& tensor) const {
  const Payload* linked = is_linked(tensor) ? &linked_payload(parts_->loaded, tensor) : nullptr;
  return base::annotated([&] { return name_of(tensor); },
                         [&] { return linked ? fitting(tensor, *linked) : inline_payload(tensor); });
}

const ByteSpan& Model::span(const schema::TensorProto& tensor) const& {
  if (!is_linked(tensor)) {
    throw Error(Code::usage_argument, concat("tensor ", base::quoted(tensor.name()),
                                             " has its data, if any, in the message; `payload` gives a view of it"));
  }
  return *linked_payload(parts_->loaded, tensor).span;  // loading has decoded all payloads that need it
}

void Model::set_payload(schema::TensorProto& tensor, ByteSpan bytes) {
  PayloadTable::set(*this, tensor, payload_of(std::move(bytes)));
}

LoadedModel& PayloadTable::of(Model& model) { return model.parts_->loaded; }

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
  set(model, tensor, linked_payload(from, linked));
  auto& kept = of(model).further_sources;
  if (from.source && (kept.empty() || kept.back() != from.source)) kept.push_back(from.source);
}

void Model::drop_payload(schema::TensorProto& tensor) {
  detail::clear_data(tensor);
  tensor.clear_data_location();
}

std::size_t Model::release_unused_payloads() {
  std::vector<Payload>& payloads = parts_->loaded.payloads;
  std::vector<bool> used(payloads.size());
  for_each_tensor(parts_->proto, [&](schema::TensorProto& tensor) {
    const Payload* payload = is_linked(tensor) ? parts_->loaded.payload_at(location_of(tensor)) : nullptr;
    if (payload != nullptr) used[static_cast<std::size_t>(payload - payloads.data())] = true;
  });
  for (const LoadedGraph& graph : parts_->loaded.graphs) {  // further graphs are saved with the model
    onnx::walk_tensors(graph.skeleton, [&](const onnx::TensorSite& site) {
      const Payload* payload = parts_->loaded.payload_of(site);
      if (payload != nullptr) used[static_cast<std::size_t>(payload - payloads.data())] = true;
    });
  }
  std::size_t released = 0;
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    if (used[i] || !payloads[i].source) continue;
    payloads[i] = {};  // not erased: links refer to payloads by index
    ++released;
  }
  return released;
}

ConvertReport Model::save(const std::filesystem::path& path, const SaveOptions& options) const {
  // Copies the table, but not the payloads. `save` is const, and other threads may read the model concurrently.
  LoadedModel saved = parts_->loaded;
  saved.source = nullptr;  // edited messages may link only to payloads, not into the source
  return base::annotated(path, [&] {
    // Goes through the same splitter as a loaded file, so edited and loaded models are written by one path.
    set_skeleton(saved, std::make_shared<const std::vector<std::byte>>(serialised(parts_->proto)),
                 ExternalPolicy::of(options), parts_->options);
    return options.format == Format::textproto ? save_text(saved, path, options) : save_model(saved, path, options);
  });
}

std::shared_ptr<const void> consolidate_tensors_to_buffer(Model& model, const TensorBufferOptions& options) {
  return consolidate(PayloadTable::of(model), options);
}

}  // namespace onnxar
