// Streams the weights of a model one by one, for programs that have messages of their own protobuf library.
//
//   onnxar::ModelWriter writer;
//   const std::string location = writer.add(std::make_shared<MySource>());  // a ByteSource
//   writer.save(model, "streamed.onnxar");  // a serialised ModelProto with external data at that location
//
// The verbs of convert.h do the same for whole files. Threads: calls are independent of each other.
#pragma once

#include "onnxar/convert.h"

namespace ONNXAR_API onnxar {

/// One step from a message to a message in it: a field of onnx.proto, with an index if it is repeated.
struct FieldStep {
  std::string_view field;  ///< valid until the program ends
  std::optional<std::uint64_t> index;
};

/// Returns the steps from the ModelProto of an archive to each tensor, in the order of `tensors` (tensors.h). Throws
/// wire.*, onnx.*. Cost: O(model).
[[nodiscard]] std::vector<std::vector<FieldStep>> steps_of_tensors(const Archive& archive);

/// Reads the model of an archive as a ModelProto without its large payloads, and the payloads one by one. The caller
/// parses `model()`, and sets the `raw_data` of each tensor that `for_each` visits, instead of `external_data` and
/// `data_location`. The result is the model that `unpack` writes, at any size. Refuses what `check` reports as an
/// error. Owns the archive; move-only. Threads: const members may be called concurrently.
class ModelReader {
 public:
  /// Of `options`, `verify_data` applies to `read`, and `max_expansion` limits the data of all tensors relative to the
  /// archive's size. Throws the errors that `check` finds; zip.data.crc (of the model); onnx.model.expansion;
  /// onnx.graph.duplicate (as for `unpack`). Cost: O(directory + model); no data is read.
  explicit ModelReader(Archive archive, const LoadOptions& options = {});

  /// Returns the serialised model. A tensor whose data `read` provides has a location that readers refuse.
  [[nodiscard]] Bytes model() const& noexcept;
  Bytes model() const&& = delete;
  /// Returns the number of tensors whose data `read` provides.
  [[nodiscard]] std::size_t size() const noexcept;
  /// Returns the size of one tensor's data in bytes. Throws usage.no_such_tensor.
  [[nodiscard]] std::uint64_t size_of(std::size_t index) const;
  /// Passes one tensor's data to `sink` in pieces. Throws zip.data.crc and onnx.external_data.checksum, after the last
  /// piece; usage.no_such_tensor; usage.argument (an empty sink); exceptions of `sink` pass through.
  void read(std::size_t index, const ByteSink& sink) const;
  /// Visits these tensors in the order of the model, with the steps from the ModelProto to each, such as `graph`,
  /// `node[3]`, `attribute[0]`, `t`. The steps are valid during the visit. Throws usage.argument (an empty `visit`);
  /// exceptions of `visit` pass through. Cost: O(fields of the model).
  void for_each(const std::function<void(std::size_t index, std::span<const FieldStep> steps)>& visit) const;

 private:
  struct Parts;
  detail::Owned<Parts> parts_;
};

/// Returns serialised fields that make all `size` bytes at `location` the data of a TensorProto; `location` is an entry
/// or a result of ModelWriter::add. Append the fields to a serialised TensorProto without data. The pairs are
/// `location`, `offset`, `length`, in this order, since some readers rely on it. For messages in memory see
/// link_tensor.
[[nodiscard]] std::string link_fields(std::string_view location, std::uint64_t size);

/// Saves a model whose weights are sources, which may produce their bytes when they are read. As for `pack`, the
/// options decide which weights become entries and which are inline. If a graph defines a tensor's name more than once,
/// its weight goes into the model. Move-only. For failures and threads see ArchiveWriter.
class ModelWriter {
 public:
  ModelWriter();
  /// Returns the location for `weight` in this model's `external_data`, valid as long as the writer. Calls its `size`
  /// once, and reads nothing yet. Throws usage.argument (a null pointer, or more than 2^60 bytes); exceptions of
  /// `size`.
  [[nodiscard]] std::string add(std::shared_ptr<const ByteSource> weight);
  /// Writes the model. Each weight that a tensor names is read once (with a checksum twice), one after another in the
  /// order of the model. Other external data is in `load.external_data_dir`. May be called again after it succeeded.
  /// Throws what `pack` and `unpack` throw; onnx.external_data.marker (a location of another writer), io.source_size;
  /// exceptions of a source. Cost: O(bytes).
  ConvertReport save(Bytes model, const std::filesystem::path& output, const SaveOptions& save = {},
                     const LoadOptions& load = {}) const;
  /// Works like onnxar::replace, also with weights of this writer. A weight with the size of an entry is read once
  /// more, to compare them. May be called again after it succeeded.
  ReplaceReport replace(const std::filesystem::path& archive, Bytes model, const ReplaceOptions& options = {},
                        const LoadOptions& load = {}) const;

 private:
  struct Parts;
  detail::Owned<Parts> parts_;
};

}  // namespace ONNXAR_API onnxar
