// A model in memory: ONNX's ModelProto with its large payloads beside it.
//
// The messages are ONNX's own under another protobuf package (`onnxar::schema`, see proto/onnxar/onnx.proto), so that
// this library can share a process with onnx. On the wire they are the same.
//
// Threads: const members of Model may be called concurrently; editing a model needs the caller's own lock. Other
// functions are independent of each other, and run callbacks on the thread of the call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "onnxar/bytes.h"
#include "onnxar/convert.h"
#include "onnxar/error.h"
#include "onnxar/onnx.pb.h"
#include "onnxar/options.h"
#include "onnxar/tensor.h"
#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

/// A loaded model: a skeleton, which is the ModelProto without its large payloads, and a table of payloads with owners.
///
/// In the skeleton a large tensor has data_location EXTERNAL and a link into the table. The links are part of the
/// messages, so they survive any edit of the graph: copy, move, reorder and delete messages as you like. Copies share
/// their payload. Payloads that no message links to are not saved. Small tensors may also be edited through protobuf.
///
/// The table's span of a large payload depends on the source and on LoadOptions::no_copy (see also ByteSpan):
///
/// | loaded from                      | no_copy | span                     | storage lives as long as               |
/// |----------------------------------|---------|--------------------------|----------------------------------------|
/// | a file (archive, inline, extern) | true    | borrowed + owner, mapped | the last span with a share             |
/// | bytes with an owner              | true    | borrowed + owner         | the last span with a share             |
/// | bytes without one                | true    | borrowed, no owner       | the caller keeps it, beyond all use    |
/// | any of them                      | false   | owned                    | the model, or a span of `payload`      |
///
/// Text (protobuf's text format) is first parsed to bytes. Spans without a copy have a share in these bytes, whether or
/// not the text has an owner. External data files of a model that was loaded from bytes are mapped, as those of a file
/// are. One packed run of float_data or double_data is borrowed too. Other typed data is decoded during loading, into
/// owned spans.
///
/// Move-only.
class Model {
 public:
  /// An empty model.
  Model();
  /// Loads an archive, a `.onnx` file with inline or external data, or a model as text; the content tells which. Each
  /// data file is mapped once. Errors: as `unpack`; onnx.model.invalid if protobuf cannot parse the skeleton.
  /// Cost: O(fields), plus O(bytes) for text and without no_copy.
  static Model load(const std::filesystem::path& path, const LoadOptions& options = {});
  /// Loads from bytes: an archive, or a `.onnx` whose external data is in `options.external_data_dir`. The bytes are
  /// copied unless `options.no_copy` is true; then the caller keeps them alive and unchanged.
  /// Errors: as above, without a path; onnx.external_data.missing if a folder is needed and none is named.
  static Model load(Bytes bytes, const LoadOptions& options = {});
  /// As above; `owner` keeps `bytes` alive as long as the model or any span needs them.
  static Model load(Bytes bytes, std::shared_ptr<const void> owner, const LoadOptions& options = {});
  /// Deleted: `owner` cannot keep a temporary alive.
  template <TemporaryContainer T>
  static Model load(T&& bytes, std::shared_ptr<const void> owner, const LoadOptions& options = {}) = delete;

  Model(Model&& other) noexcept;
  Model& operator=(Model&& other) noexcept;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model();

  /// The skeleton, to read and to edit.
  [[nodiscard]] schema::ModelProto& proto() & noexcept;
  [[nodiscard]] const schema::ModelProto& proto() const& noexcept;
  schema::ModelProto& proto() && = delete;
  const schema::ModelProto& proto() const&& = delete;

  /// The raw bytes of a tensor of this model. Only typed data is copied (decoded, into bytes that the span owns).
  /// - A linked tensor: a share in the table's payload, which the caller may keep.
  /// - raw_data: a view of the message, without an owner, valid until the message is changed or destroyed.
  /// ByteSpan::alignment reports the alignment. raw_data begins where its std::string has it: at a multiple of 8 in
  /// practice, but at an odd address if the string stores short text in itself. A payload is aligned as its entry or
  /// file is. Numbers are little-endian on every host; elements below 8 bits are packed. Strings have no
  /// raw bytes.
  /// Errors: onnx.external_data.marker (the tensor is linked to another model's payload), usage.not_loaded (it is
  /// linked to a file that was not loaded), onnx.tensor.* (what `check` calls an error in the message; .length: the
  /// payload does not have the size that type and dims call for; .strings; .not_converted: too many typed values, or
  /// values out of range).
  [[nodiscard]] ByteSpan payload(const schema::TensorProto& tensor) const;
  /// Deleted: the view of a temporary's data would dangle.
  ByteSpan payload(const schema::TensorProto&& tensor) const = delete;

  /// The table's own span of a linked tensor, owned or borrowed as the class comment says. Valid until the model is
  /// changed or destroyed. Errors: usage.argument (the data is in the message); onnx.external_data.marker and
  /// usage.not_loaded, as `payload`. Its size may not fit an edited message.
  [[nodiscard]] const ByteSpan& span(const schema::TensorProto& tensor) const&;
  const ByteSpan& span(const schema::TensorProto& tensor) const&& = delete;

  /// Makes `bytes` the tensor's data and removes the data that it had. The bytes are not copied: ByteSpan says who
  /// keeps them. Errors: onnx.tensor.length if the size does not match data type and dims; onnx.external.string.
  void set_payload(schema::TensorProto& tensor, ByteSpan bytes);

  /// Removes the tensor's data, except string_data. Other tensors that share the payload keep it.
  void drop_payload(schema::TensorProto& tensor);

  /// Frees the memory of payloads that no message of `proto()` links to, and returns their number. Messages that were
  /// moved out of `proto()` and kept elsewhere lose their payloads. Cost: O(messages).
  std::size_t release_unused_payloads();

  /// Writes the model in the form that `options` name, text included. The skeleton is serialised; `options` decide
  /// which tensors are external and which inline. Errors: as `unpack`; onnx.external_data.marker, usage.not_loaded (as
  /// `payload`); onnx.external.data_beside and onnx.tensor.length (the message of a linked tensor was given data, or
  /// another shape), which name the tensor.
  ConvertReport save(const std::filesystem::path& path, const SaveOptions& options = {}) const;

  /// The further graphs of the archive that the model was loaded from, by the names of their entries; `save` writes
  /// them with the model. Their tensors link to payloads of this model. Errors: onnx.model.*. Cost: O(messages).
  [[nodiscard]] std::map<std::string, schema::ModelProto> further_graphs() const;

  /// Remarks of loading: data that could not be split off, keys that were dropped.
  [[nodiscard]] const std::vector<Finding>& remarks() const& noexcept;
  const std::vector<Finding>& remarks() const&& = delete;

 private:
  friend std::shared_ptr<const void> consolidate_tensors_to_buffer(Model& model, const TensorBufferOptions& options);
  struct Parts;
  explicit Model(std::unique_ptr<Parts> parts) noexcept;

  std::unique_ptr<Parts> parts_;
};

// --- Tensors ---------------------------------------------------------------------------------------------------------

/// Visits every tensor of a model: initializers, sparse values and indices, node attributes, subgraphs, function bodies
/// and defaults, training info, in the order of the messages. `visit` may change its tensor. Errors: usage.argument (an
/// empty `visit`); what `visit` throws passes through. Cost: O(messages).
void for_each_tensor(schema::ModelProto& model, const std::function<void(schema::TensorProto&)>& visit);
/// As above, with name, data type, dims and site.
void for_each_tensor(schema::ModelProto& model,
                     const std::function<void(schema::TensorProto&, const TensorInfo&)>& visit);
void for_each_tensor(const schema::ModelProto& model,
                     const std::function<void(const schema::TensorProto&, const TensorInfo&)>& visit);

/// Moves payloads of at least `options.threshold` bytes to one new buffer. With `options.alignment`, 0 or a power of
/// two up to 1 GiB, the buffer's start and every offset in it are multiples of it. Each span becomes borrowed with a
/// share in the buffer. The buffer is also returned, but the tensors stay valid without it. Null if no payload is that
/// large.
///
/// Smaller payloads and data in the messages stay where they are. Tensors that shared a payload still do. Spans that
/// were handed out before stay valid. The copy uses all cores and advises huge pages. CRC-32s of archive entries are
/// verified if LoadOptions::verify_data was set. Errors: usage.argument (the alignment), zip.data.crc,
/// onnx.model.expansion (tensors that overlap many times over), std::bad_alloc; the model is then unchanged.
std::shared_ptr<const void> consolidate_tensors_to_buffer(Model& model, const TensorBufferOptions& options);

// --- Text ------------------------------------------------------------------------------------------------------------
// Models in protobuf's text format ("textproto", of onnx.ModelProto), which people can read and edit.

/// A parser for LoadOptions::text_parser: with it `pack`, `unpack`, `check`, `replace` and all that take LoadOptions
/// read models in text form. External data is in the text's folder. Messages nest up to `max_depth`. Memory: several
/// times the text.
[[nodiscard]] TextParser text_parser(std::size_t max_depth = LoadOptions().max_depth);

/// Parses text to a serialised ModelProto. Errors: onnx.text.syntax, with line and column of the first fault;
/// onnx.model.too_large.
[[nodiscard]] std::vector<std::byte> parse_text(Bytes text, std::size_t max_depth = LoadOptions().max_depth);

struct TextOptions {
  /// Print the data of all tensors, external data included: the text then makes an equal model. Otherwise payloads of
  /// at least `load.threshold` bytes become a comment, external tensors keep their links, and no data is read.
  bool with_data = false;
  LoadOptions load = {};
};

struct TextReport {
  std::uint64_t left_out = 0;    ///< payloads that became a comment
  std::vector<Finding> remarks;  ///< with data: what text cannot carry (unknown fields, NaNs with a payload, ...)
};

/// Prints the model at `model`, an archive or a `.onnx` file in any form, to `sink`. Payloads are escaped piece by
/// piece, never gathered in memory. Errors: as `unpack`; onnx.model.invalid if protobuf cannot parse the model;
/// usage.argument (an empty sink).
TextReport dump(const std::filesystem::path& model, const ByteSink& sink, const TextOptions& options = {});

/// Writes the model at `input` to `output` as text with all data, and with its side files if `output` is a folder, as
/// `unpack` does. Of `save`, only the members that say how to write count. Remarks and errors: as `unpack` and the
/// `dump` above.
ConvertReport dump(const std::filesystem::path& input, const std::filesystem::path& output, const SaveOptions& save,
                   const LoadOptions& load = {});

[[deprecated("use dump")]]
inline TextReport print_text(const std::filesystem::path& model, const ByteSink& sink,
                             const TextOptions& options = {}) {
  return dump(model, sink, options);
}
[[deprecated("use dump")]]
inline ConvertReport convert_to_text(const std::filesystem::path& input, const std::filesystem::path& output,
                                     const SaveOptions& save, const LoadOptions& load = {}) {
  return dump(input, output, save, load);
}

}  // namespace ONNXAR_API onnxar
