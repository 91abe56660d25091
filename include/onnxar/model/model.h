// A model in memory: ONNX's ModelProto with its large payloads beside it.
//
// The messages are ONNX's own under another protobuf package (`onnxar::schema`, see proto/onnxar/onnx.proto), so that
// this library can share a process with onnx. On the wire they are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
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
/// In the skeleton a large tensor has data_location EXTERNAL and a link into the table. Links stand in the messages, so
/// they survive whatever is done to the graph: copy, move, reorder and delete messages as you like; copies share their
/// payload. Payloads that no message links to are not saved. Small tensors may also be edited as protobuf has them.
///
/// What the table's span of a large payload is (LoadOptions::no_copy, ByteSpan):
///
/// | loaded from                      | no_copy | span                     | storage lives as long as               |
/// |----------------------------------|---------|--------------------------|----------------------------------------|
/// | a file (archive, inline, extern) | true    | borrowed + owner, mapped | the last span with a share             |
/// | bytes with an owner              | true    | borrowed + owner         | the last span with a share             |
/// | bytes without one                | true    | borrowed, no owner       | the caller has it: longer than all use |
/// | any of them                      | false   | owned                    | the model, or a span of `payload`      |
///
/// Text (protobuf's text format) is parsed to bytes first, which the spans without a copy have a share in, whoever owns
/// the text. Data files of bytes are mapped as those of files are. One packed run of float_data or double_data is
/// borrowed, too; other typed data is decoded in loading, into owned spans.
///
/// Move-only. Threads: const members may be called concurrently; editing needs the caller's own lock.
class Model {
 public:
  /// An empty model.
  Model();
  /// Loads an archive, a `.onnx` file with inline or external data or a model as text, told apart by content. Data
  /// files are mapped once each. Errors: as `convert`; onnx.model.invalid where protobuf cannot parse the skeleton.
  /// Cost: O(fields), and O(bytes) without no_copy or of text.
  static Model load(const std::filesystem::path& path, const LoadOptions& options = {});
  /// The same from bytes: of an archive, or of a `.onnx` whose external data lies in `options.external_data_dir`. The
  /// bytes are copied unless `options.no_copy` is true; then the caller keeps them alive and unchanged.
  /// Errors: as above, without a path; onnx.external_data.missing where a folder is needed and none is named.
  static Model load(Bytes bytes, const LoadOptions& options = {});
  /// The same; `owner` keeps `bytes` alive as long as any span or the model needs them.
  static Model load(Bytes bytes, std::shared_ptr<const void> owner, const LoadOptions& options = {});
  /// Deleted: `owner` cannot keep a temporary alive.
  template <TemporaryContainer T>
  static Model load(T&& bytes, std::shared_ptr<const void> owner, const LoadOptions& options = {}) = delete;

  Model(Model&& other) noexcept;
  Model& operator=(Model&& other) noexcept;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model();

  [[nodiscard]] schema::ModelProto& proto() & noexcept;
  [[nodiscard]] const schema::ModelProto& proto() const& noexcept;
  schema::ModelProto& proto() && = delete;
  const schema::ModelProto& proto() const&& = delete;

  /// The raw bytes of a tensor of this model, never a copy of bytes that lie somewhere: a share of what the table has,
  /// for keeps, also where the table owns it; raw_data of the message as a view of it, without an owner and valid until
  /// the message is changed or gone. Only typed data, which is not raw bytes, is decoded, into bytes of the span's own.
  /// The address is what it is; ByteSpan::alignment reports it. Raw data of a message begins where its std::string has
  /// it (at a multiple of 8 at least in practice, and at an odd address where a string keeps short ones in itself),
  /// a payload as its entry or file is aligned. Elements below 8 bits are packed; strings have none.
  /// Errors: onnx.external_data.marker (the tensor is linked to another model's payload), usage.not_loaded (to a file
  /// that was not loaded), onnx.tensor.* (what `check` calls an error in the message; .strings; .not_converted: too
  /// many typed values, or out of range).
  [[nodiscard]] ByteSpan payload(const schema::TensorProto& tensor) const;
  /// Deleted: the view of a temporary's data would dangle.
  ByteSpan payload(const schema::TensorProto&& tensor) const = delete;

  /// The table's own span of a linked tensor, owned or borrowed as the class says. Valid until the model is changed
  /// or gone. Errors: usage.argument (the data stands in the message); as `payload`.
  [[nodiscard]] const ByteSpan& span(const schema::TensorProto& tensor) const&;
  const ByteSpan& span(const schema::TensorProto& tensor) const&& = delete;

  /// Makes `bytes` the tensor's data, whatever it had before. They are not copied: see ByteSpan for who keeps them.
  /// Errors: onnx.tensor.length where the size is not what data type and dims call for; onnx.external.string.
  void set_payload(schema::TensorProto& tensor, ByteSpan bytes);

  /// Leaves the tensor without data, but for string_data. Other tensors that share the payload keep it.
  void drop_payload(schema::TensorProto& tensor);

  /// Gives up the memory of payloads that no message of `proto()` links to (any more), and returns how many those were.
  /// Messages that were taken out and kept elsewhere lose theirs. Cost: O(messages).
  std::size_t release_unused_payloads();

  /// Writes the model, as text too. The skeleton is serialised, and tensors go outside or inline as `options` have it.
  /// Errors: as `convert`; onnx.external_data.marker, usage.not_loaded (as `payload`), onnx.external.data_beside
  /// and onnx.tensor.length (the message of a linked tensor was given data, or another shape), naming the tensor.
  ConvertReport save(const std::filesystem::path& path, const SaveOptions& options = {}) const;

  /// What loading had to remark: data that could not be split off, keys that were dropped.
  [[nodiscard]] const std::vector<Finding>& remarks() const& noexcept;
  const std::vector<Finding>& remarks() const&& = delete;

 private:
  friend std::shared_ptr<const void> consolidate_tensors_to_buffer(Model& model, const TensorBufferOptions& options);
  struct Parts;
  explicit Model(std::unique_ptr<Parts> parts) noexcept;

  std::unique_ptr<Parts> parts_;
};

/// Moves payloads of at least `options.threshold` bytes to one new buffer. With `options.alignment`, 0 or a
/// power of two up to 1 GiB, its start and every offset are multiples of it. Each span becomes borrowed with a share in
/// the buffer, which is also returned: the tensors stay valid whether it is kept or not. Null where no payload is that
/// large.
///
/// Smaller payloads, and data that stands in the messages, stay as they were; tensors that shared a payload still do.
/// Spans that were handed out before stay valid. Copies with all cores, huge pages advised, CRC-32s of archive entries
/// verified as LoadOptions::verify_data had it. Errors: usage.argument (the alignment), zip.data.crc,
/// onnx.model.expansion (tensors that overlap many times over), std::bad_alloc; the model is then as it was.
std::shared_ptr<const void> consolidate_tensors_to_buffer(Model& model, const TensorBufferOptions& options);

/// Every tensor of a model, at every site: initializers, sparse values and indices, node attributes, subgraphs,
/// function bodies and defaults, training info; in the order of the messages. `visit` may change the tensor it is
/// given. Errors: usage.argument (an empty `visit`); what `visit` throws passes.
void for_each_tensor(schema::ModelProto& model, const std::function<void(schema::TensorProto&)>& visit);
/// The same, with name, data type, dims and site.
void for_each_tensor(schema::ModelProto& model,
                     const std::function<void(schema::TensorProto&, const TensorInfo&)>& visit);
void for_each_tensor(const schema::ModelProto& model,
                     const std::function<void(const schema::TensorProto&, const TensorInfo&)>& visit);

// --- text.h ---
// Models in protobuf's text format, which people read and edit ("textproto", of onnx.ModelProto).

/// A parser for LoadOptions::text_parser, with which `convert`, `check`, `replace_model` and all that take LoadOptions
/// read models in text form; external data lies in the text's folder. Messages nest up to `max_depth`. Memory: several
/// times the text.
[[nodiscard]] TextParser text_parser(std::size_t max_depth = LoadOptions().max_depth);

/// The model as bytes on the wire. Errors: onnx.text.syntax, with line and column of the first fault;
/// onnx.model.too_large.
[[nodiscard]] std::vector<std::byte> parse_text(Bytes text, std::size_t max_depth = LoadOptions().max_depth);

struct TextOptions {
  /// Print the data of all tensors, external data too: a model made of the text is the same. Otherwise payloads of
  /// `load.threshold` bytes and more are a comment, external tensors keep their links, and no data is read.
  bool with_data = false;
  LoadOptions load;
};

struct TextReport {
  std::uint64_t left_out = 0;    ///< payloads that are but a comment
  std::vector<Finding> remarks;  ///< with data: what text cannot carry (unknown fields, NaNs with a payload, ...)
};

/// Hands out the text of the model at `model`, an archive or a `.onnx` file in whatever form. Payloads are escaped on
/// their way; none is gathered in memory. Errors: as `convert`; onnx.model.invalid where protobuf cannot parse it;
/// usage.argument (an empty sink).
TextReport dump(const std::filesystem::path& model, const ByteSink& sink, const TextOptions& options = {});

/// Writes the model at `input` to `output` as text with all data in it; with its side files where that is a folder, as
/// `unpack` has it. Of `save`, what says how to write holds. Remarks and errors as `unpack` and the `dump` above.
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
