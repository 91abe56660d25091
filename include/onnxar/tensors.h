// Finds the tensors of an archive's model and their bytes, without protobuf.
//
//   const onnxar::Archive archive = onnxar::Archive::open("model.onnxar");
//   const onnxar::TensorIndex tensors(archive);  // reads the model once: keep it
//   if (const auto* weight = tensors.find("encoder.weight")) use(weight->dims, onnxar::tensor_data(archive, *weight));
//
// Threads: all functions and const members may be called concurrently. These calls return a tensor's bytes:
//
// | you have                             | call                                      | header         |
// |--------------------------------------|-------------------------------------------|----------------|
// | the name of a tensor; a StoredTensor | TensorIndex::find; tensor_data            | tensors.h      |
// | a TensorProto of your own protobuf   | resolve; resolve_all for those of a model | resolve.h      |
// | location, offset and length          | Archive::resolve                          | archive.h      |
// | an ArchiveEntry                      | Archive::bytes; read_entry copies         | archive.h      |
// | a RuntimeTensor                      | RuntimeTensor::bytes                      | link.h         |
// | an index of a ModelReader            | ModelReader::read, in pieces              | model_stream.h |
// | a schema::TensorProto of a Model     | Model::payload                            | model/model.h  |
// | a model file of any form             | extract, as files                         | convert.h      |
#pragma once

#include "onnxar/archive.h"
#include "onnxar/tensor.h"

namespace ONNXAR_API onnxar {

/// A tensor of an archive's model.
struct StoredTensor : TensorInfo {
  std::uint64_t offset = 0;  ///< of the TensorProto in the model, bytes
  std::uint64_t size = 0;    ///< of the TensorProto, bytes
};

/// Returns every tensor of the model, at every site, in the order of the model. Throws wire.*, onnx.*. Cost: O(model).
[[nodiscard]] std::vector<StoredTensor> tensors(const Archive& archive);

/// Returns the raw bytes of a tensor of this archive (see `tensors`). The span has a share in their memory. They are
/// - data in an entry: a view, aligned like the entry, or like the link's offset if that is not 0;
/// - data in the model at a multiple of 64: a view;
/// - data elsewhere in the model, and typed fields, which are decoded: a copy at a multiple of 64.
///
/// The archive keeps copies up to the size of the model, so later calls return the same bytes; beyond that, each call
/// copies. Throws usage.foreign_entry (not of this archive's model); onnx.external*, onnx.tensor.* (.strings: they have
/// no raw bytes; .not_converted: too many typed values, or out of range); what Archive::locate throws. Cost: O(fields
/// of the tensor), and O(bytes) for a copy.
[[nodiscard]] ByteSpan tensor_data(const Archive& archive, const StoredTensor& tensor);

/// Returns the entry with the data of a tensor that `tensors` returned for this archive; nullopt if the data is in the
/// model. Reads no data. The name is valid as long as the archive. Throws what `tensor_data` throws. Cost: O(fields of
/// the tensor).
[[nodiscard]] std::optional<ArchiveEntry> tensor_entry(const Archive& archive, const StoredTensor& tensor);
std::optional<ArchiveEntry> tensor_entry(const Archive&& archive, const StoredTensor& tensor) = delete;

/// All tensors of an archive's model by name, and as a range in the order of the model. Move-only.
class TensorIndex {
 public:
  /// Reads the model, no data. Throws wire.*, onnx.*. Cost: O(model).
  explicit TensorIndex(const Archive& archive);

  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(end() - begin()); }
  /// Returns a tensor; valid as long as the index, like the results of begin, end, find. REQUIRES: index < size().
  [[nodiscard]] const StoredTensor& operator[](std::size_t index) const& noexcept { return begin()[index]; }
  const StoredTensor& operator[](std::size_t index) const&& = delete;
  [[nodiscard]] const StoredTensor* begin() const& noexcept;
  [[nodiscard]] const StoredTensor* end() const& noexcept;
  const StoredTensor* begin() const&& = delete;
  const StoredTensor* end() const&& = delete;
  /// Returns null if no tensor has this name. If several do, returns the initializer of the main graph. Never finds a
  /// tensor without a name, or a tensor by its entry or site: a runtime may ask for every input of a node, and an input
  /// could be named like an entry. Throws usage.ambiguous_tensor, with the candidates' sites, if there are two such
  /// initializers, or none and several tensors elsewhere. Cost: O(1).
  [[nodiscard]] const StoredTensor* find(std::string_view name) const&;
  const StoredTensor* find(std::string_view name) const&& = delete;

 private:
  struct Parts;
  detail::Owned<Parts> parts_;
};

}  // namespace ONNXAR_API onnxar
