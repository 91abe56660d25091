// Loads, edits, freezes and saves a model in memory: ONNX's ModelProto with its large payloads beside it.
//
//   onnxar::Model model = onnxar::Model::load("model.onnxar");
//   onnxar::schema::TensorProto& weight = *model.proto().mutable_graph()->mutable_initializer(0);
//   const onnxar::ByteSpan data = model.payload(weight);  // without a copy
//   model.set_payload(weight, onnxar::ByteSpan::own(std::move(new_bytes)));
//   model.save("edited.onnxar");
//   onnxar::freeze("edited.onnxar", "frozen.onnxar", {}, {.weights = "weights.safetensors"});
//
// The messages are ONNX's own in another protobuf package, `onnxar::schema` (proto/onnxar/onnx.proto), so this library
// can share a process with onnx.
//
// Threads: const members of Model, and functions of a const Model, may be called concurrently.
#pragma once

#include <concepts>
#include <map>

#include "onnxar/convert.h"
#include "onnxar/onnx.pb.h"

namespace ONNXAR_API onnxar {

/// A loaded model: a skeleton, which is the ModelProto without its large payloads, and a table of payloads. Move-only.
/// In the skeleton a large tensor has data_location EXTERNAL and a link into the table. Links survive any edit of the
/// graph: messages may be copied, moved, reordered and deleted; copies share their payload. Payloads without a link are
/// not saved. Small tensors may also be edited through protobuf.
/// The table's span of a payload depends on the source and on LoadOptions::no_copy (see ByteSpan):
///
/// | loaded from          | no_copy | span                     | storage lives as long as        |
/// |----------------------|---------|--------------------------|---------------------------------|
/// | a file               | true    | borrowed + owner, mapped | the last span with a share      |
/// | bytes with an owner  | true    | borrowed + owner         | the last span with a share      |
/// | bytes, no owner      | true    | borrowed, no owner       | the caller keeps it             |
/// | any of them          | false   | owned                    | the model, or a span of payload |
///
/// Data files of a model from bytes are mapped like those of a file. Text is first parsed to bytes, which its spans
/// share. Typed data is decoded into owned spans, except a packed run of float_data or double_data.
class Model {
 public:
  Model();
  /// Loads an archive, a `.onnx` file with inline or external data, or text; the content decides. Throws what `unpack`
  /// throws; onnx.model.invalid if protobuf cannot parse the skeleton. Cost: O(fields), plus O(bytes) for text and
  /// without no_copy.
  static Model load(const std::filesystem::path& path, const LoadOptions& options = {});
  /// Loads bytes: an archive, or a `.onnx` whose external data is in `options.external_data_dir`. Copies the bytes,
  /// unless `options.no_copy` is true; then the caller keeps them alive and unchanged. Also throws
  /// onnx.external_data.missing if a folder is needed but not set.
  static Model load(Bytes bytes, const LoadOptions& options = {});
  /// Copies the bytes of a temporary. Also throws usage.argument if `options.no_copy` is true: nothing keeps the bytes.
  template <TemporaryContainer T>
    requires std::convertible_to<T, Bytes>
  static Model load(T&& bytes, const LoadOptions& options = {}) {
    return load_temporary(bytes, options);
  }
  /// Loads bytes that `owner` keeps alive as long as the model or any span needs them.
  static Model load(Bytes bytes, std::shared_ptr<const void> owner, const LoadOptions& options = {});
  template <TemporaryContainer T>
  static Model load(T&& bytes, std::shared_ptr<const void> owner, const LoadOptions& options = {}) = delete;

  [[nodiscard]] schema::ModelProto& proto() & noexcept;
  [[nodiscard]] const schema::ModelProto& proto() const& noexcept;
  schema::ModelProto& proto() && = delete;
  const schema::ModelProto& proto() const&& = delete;

  /// Returns the raw bytes of a tensor of this model:
  /// - linked: a share in the table's payload, aligned as its entry or file;
  /// - raw_data: a view of the message, valid until the message is changed or destroyed. It begins where the
  ///   std::string stores it: usually at a multiple of 8, but short data at any address (ByteSpan::alignment);
  /// - typed data: a decoded copy, which the span owns.
  ///
  /// Elements below 8 bits are packed. Throws onnx.external_data.marker (linked to another model's payload),
  /// usage.not_loaded (linked to a file that was not loaded), onnx.tensor.* (.length: not what type and dims require;
  /// .strings: they have no raw bytes; .not_converted: too many typed values, or out of range).
  [[nodiscard]] ByteSpan payload(const schema::TensorProto& tensor) const;
  ByteSpan payload(const schema::TensorProto&& tensor) const = delete;

  /// Returns the table's own span of a linked tensor, valid until the model is changed or destroyed. If the message was
  /// edited, the size may no longer match its type and dims. Throws usage.argument (the data is in the message); what
  /// `payload` throws.
  [[nodiscard]] const ByteSpan& span(const schema::TensorProto& tensor) const&;
  const ByteSpan& span(const schema::TensorProto& tensor) const&& = delete;

  /// Makes `bytes` the tensor's only data, without a copy (see ByteSpan). Throws onnx.tensor.length (not what type and
  /// dims require); onnx.external.string.
  void set_payload(schema::TensorProto& tensor, ByteSpan bytes);

  /// Removes the tensor's data, except string_data. Other tensors that share the payload keep it.
  void drop_payload(schema::TensorProto& tensor);

  /// Frees payloads to which no message of `proto()` links, and returns their number. Messages that were moved out of
  /// `proto()` lose their payloads. Cost: O(messages).
  std::size_t release_unused_payloads();

  /// Writes the model in any form, text included; `options` decide which tensors are external and which inline. Throws
  /// what `unpack` and `payload` throw; onnx.external.data_beside or onnx.tensor.length, naming the tensor, if the
  /// message of a linked tensor got data or another shape. Cost: O(bytes).
  ConvertReport save(const std::filesystem::path& path, const SaveOptions& options = {}) const;

  /// Returns the additional graphs of the archive, by the names of their entries. Their tensors link to payloads of
  /// this model, and `save` writes them, too. Throws onnx.model.*. Cost: O(messages).
  [[nodiscard]] std::map<std::string, schema::ModelProto> further_graphs() const;

  /// Returns the remarks of loading: data that could not be split off, keys that were dropped.
  [[nodiscard]] const std::vector<Finding>& remarks() const& noexcept;
  const std::vector<Finding>& remarks() const&& = delete;

 private:
  friend struct PayloadTable;
  struct Parts;
  explicit Model(detail::Owned<Parts> parts) noexcept;
  static Model load_temporary(Bytes bytes, const LoadOptions& options);

  detail::Owned<Parts> parts_;
};

/// Visits every tensor of a model in the order of the messages: initializers, sparse values and indices, node
/// attributes, subgraphs, function bodies and defaults, training info. Throws usage.argument (an empty `visit`);
/// exceptions of `visit` pass through. Cost: O(messages).
void for_each_tensor(schema::ModelProto& model, const std::function<void(schema::TensorProto&)>& visit);
/// Also passes name, data type, dims and site.
void for_each_tensor(schema::ModelProto& model,
                     const std::function<void(schema::TensorProto&, const TensorInfo&)>& visit);
void for_each_tensor(const schema::ModelProto& model,
                     const std::function<void(const schema::TensorProto&, const TensorInfo&)>& visit);

/// Options of consolidate_tensors_to_buffer.
struct TensorBufferOptions {
  std::uint64_t threshold = 0;  ///< bytes; payloads of at least this many are moved
  std::uint64_t alignment = 0;  ///< bytes, a power of two: where they begin; 0: anywhere
};

/// Moves payloads of at least `options.threshold` bytes to one new buffer, and returns it; null if there are none. Each
/// span becomes borrowed with a share in the buffer. The buffer's address and every offset in it are multiples of
/// `options.alignment`, at most 1 GiB. Tensors that shared a payload still do, and earlier spans stay valid. The copy
/// uses all cores, and asks the system for huge pages. With LoadOptions::verify_data it verifies CRC-32s. Throws
/// usage.argument (the alignment), zip.data.crc, onnx.model.expansion (tensors that overlap many times over),
/// std::bad_alloc; the model is then unchanged.
std::shared_ptr<const void> consolidate_tensors_to_buffer(Model& model, const TensorBufferOptions& options);

// --- Text ------------------------------------------------------------------------------------------------------------

/// Returns a parser for LoadOptions::text_parser, which reads models in protobuf's text format ("textproto"). External
/// data is in the text's folder. Memory: several times the text. The parser throws onnx.text.syntax, with line and
/// column of the first error; onnx.model.too_large.
[[nodiscard]] TextParser text_parser();

struct FreezeOptions {
  bool strip_docs = false;             ///< remove all doc strings
  bool strip_metadata = false;         ///< remove all metadata_props
  std::filesystem::path weights = {};  ///< another model, an `.npz` or a safetensors file, with data for initializers
  /// Specifies how `weights` and, in the overload for two paths, the model are read. Deflated arrays are inflated to an
  /// unnamed file in `load.temporary_dir`, up to `load.max_expansion` times the size of the `.npz`; more throws
  /// zip.limit.expansion.
  LoadOptions load = {};
};

/// Counts what was removed or filled in.
struct FreezeReport {
  std::uint64_t nodes = 0;  ///< that no output needs, in graph, subgraphs and function bodies
  std::uint64_t initializers = 0;
  std::uint64_t inputs = 0;  ///< whose default value was one of these initializers
  std::uint64_t functions = 0;
  std::uint64_t training_infos = 0;
  std::uint64_t opset_imports = 0;   ///< of domains without a node, in the model and its functions
  std::uint64_t filled = 0;          ///< tensors that got data from `weights`
  std::vector<std::string> surplus;  ///< names in `weights` that no tensor of the model needed
  ConvertReport saved;               ///< by the function of two paths
};

/// Removes what the model's outputs do not need: nodes, initializers, functions, training info, information about
/// removed values, and imports of operator sets without a node. Outer values that a subgraph uses are needed. Inputs
/// stay, except those whose default value is a removed initializer. The results do not change.
///
/// Before that, fills in data from `options.weights`, by name: for initializers without data, and for inputs of the
/// graph, which become initializers. Type and shape must match; a named dimension accepts any size. Payloads are views
/// of the file, except data inside the messages of another model, which is copied.
/// Throws, naming the site, onnx.graph.* (.cycle: nodes that depend on each other, a function that calls itself;
/// .dangling: an input or output that nothing defines; .duplicate: a value or function defined twice),
/// onnx.tensor.no_data (a needed initializer). For `weights` throws onnx.weights.* (.type, .shape), numpy.array.*
/// (.unsupported: Fortran order, big-endian, records, Python objects), safetensors.*, usage.argument (no tensor needs
/// them); what Model::load throws. After an error the model may be partly changed. Cost: O(messages), plus O(bytes) of
/// deflated weights.
FreezeReport freeze(Model& model, const FreezeOptions& options = {});

/// Freezes a model from file to file. Also throws what Model::save throws. Cost: O(bytes).
FreezeReport freeze(const std::filesystem::path& input, const std::filesystem::path& output, const SaveOptions& save,
                    const FreezeOptions& options = {});

}  // namespace ONNXAR_API onnxar
