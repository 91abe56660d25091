// Loads, changes and saves a model whose payloads lie beside its ModelProto.
#include "onnxar/model/model.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "base/annotated.h"
#include "base/text.h"
#include "convert/load.h"
#include "convert/open.h"
#include "convert/save.h"
#include "model/messages.h"
#include "model/payload_memory.h"
#include "model/payload_table.h"
#include "model/text_parser.h"
#include "model/text_writer.h"

namespace onnxar {

Model::Model() : parts_(detail::own<Parts>()) {
  parts_->loaded.id = new_model_id();
  // The limit protects against hostile files. Here, only the program itself can make tensors share bytes.
  parts_->loaded.max_expansion = std::numeric_limits<std::uint64_t>::max();
}
Model::Model(detail::Owned<Parts> parts) noexcept : parts_(std::move(parts)) {}

Model Model::load(const std::filesystem::path& path, const LoadOptions& options) {
  return base::annotated(path, [&] {
    LoadedModel loaded = load_model(path, ExternalPolicy::of(options), with_text_parser(options));
    return Model(PayloadTable::parts_of(std::move(loaded), options, options.no_copy.value_or(true)));
  });
}

Model Model::load(Bytes bytes, const LoadOptions& options) { return load(bytes, nullptr, options); }

Model Model::load_temporary(Bytes bytes, const LoadOptions& options) {
  if (options.no_copy.value_or(false)) {
    throw Error(Code::usage_argument,
                "payloads cannot stay in the bytes of a temporary (no_copy); keep the bytes, or pass an owner of them");
  }
  return load(bytes, options);
}

Model Model::load(Bytes bytes, std::shared_ptr<const void> owner, const LoadOptions& options) {
  const bool no_copy = options.no_copy.value_or(owner != nullptr);
  const LoadOptions with_text = with_text_parser(options);
  LoadedModel loaded = load_model(source_of(bytes, std::move(owner), with_text), ExternalPolicy::of(options), options);
  return Model(PayloadTable::parts_of(std::move(loaded), options, no_copy));
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
  return PayloadTable::payload(parts_->loaded, tensor);
}

const ByteSpan& Model::span(const schema::TensorProto& tensor) const& {
  if (!is_linked(tensor)) {
    throw Error(Code::usage_argument,
                base::concat("tensor ", base::quoted(tensor.name()),
                             " has its data, if any, in the message; `payload` gives a view of it"));
  }
  return *PayloadTable::linked(parts_->loaded, tensor).span;  // loading has decoded all payloads that need it
}

void Model::set_payload(schema::TensorProto& tensor, ByteSpan bytes) {
  PayloadTable::set(*this, tensor, payload_of(std::move(bytes)));
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
