// A model in memory: ONNX's ModelProto with its large payloads beside it.
//
// The messages are ONNX's own under another protobuf package (`onnxar::schema`, see proto/onnxar/onnx.proto), so that
// this library can share a process with onnx. On the wire they are the same.
#pragma once

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

namespace onnxar {

/// A loaded model: a skeleton, which is the ModelProto without its large payloads, and a table of payloads with owners.
///
/// In the skeleton a large tensor has data_location EXTERNAL and a link into the table. Links stand in the messages, so
/// they survive whatever is done to the graph: copy, move, reorder and delete messages as you like. Read a tensor's
/// bytes with `payload`, give it others with `set_payload`; small tensors may also be edited as protobuf has them.
///
/// Payloads of files are views into mappings, kept alive by every ByteSpan that was handed out, also after the Model is
/// gone. Move-only. Threads: const members may be called concurrently; editing needs the caller's own lock.
class Model {
 public:
  /// An empty model.
  Model();
  /// Loads an archive or a `.onnx` file with inline or external data. Weights are mapped, not copied; typed fields that
  /// are no raw bytes on the wire are decoded when asked for. Errors: as `convert`; onnx.model.invalid where protobuf
  /// cannot parse the skeleton. Cost: O(fields).
  static Model load(const std::filesystem::path& path, const LoadOptions& options = {});

  Model(Model&& other) noexcept;
  Model& operator=(Model&& other) noexcept;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model();

  [[nodiscard]] schema::ModelProto& proto() & noexcept;
  [[nodiscard]] const schema::ModelProto& proto() const& noexcept;
  schema::ModelProto& proto() && = delete;

  /// The raw bytes of a tensor of this model: from the table, or from its raw_data or typed data (then a copy).
  /// Elements below 8 bits are packed; strings have none. Errors: onnx.external_data.marker (the tensor is linked to
  /// another model's payload), onnx.tensor.length, onnx.tensor.not_converted (strings; typed data of another count or
  /// out of range).
  [[nodiscard]] ByteSpan payload(const schema::TensorProto& tensor) const;

  /// Makes `bytes` the tensor's data, whatever it had before. They are not copied: see ByteSpan for who keeps them.
  /// Errors: onnx.tensor.length where the size is not what data type and dims call for; onnx.external.string.
  void set_payload(schema::TensorProto& tensor, ByteSpan bytes);

  /// Writes the model. The skeleton is serialised, and tensors go outside or inline as `options` have it, wherever they
  /// were. Errors: as `convert`.
  ConvertReport save(const std::filesystem::path& path, const SaveOptions& options = {}) const;

  /// What loading had to remark: data that could not be split off, keys that were dropped.
  [[nodiscard]] const std::vector<Finding>& remarks() const& noexcept;

 private:
  struct Parts;
  explicit Model(std::unique_ptr<Parts> parts) noexcept;

  std::unique_ptr<Parts> parts_;
};

/// Every tensor of a model, at every site: initializers, sparse values and indices, node attributes, subgraphs,
/// function bodies and defaults, training info; in the order of the messages. `visit` may change the tensor it is
/// given.
void for_each_tensor(schema::ModelProto& model, const std::function<void(schema::TensorProto&)>& visit);

}  // namespace onnxar
