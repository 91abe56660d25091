// Loads and saves models piece by piece, for programs with their own protobuf classes. Neither holds all weights in
// memory.
//
//   onnxar::ModelWriter writer;
//   const std::string location = writer.add(std::make_shared<MySource>());  // a ByteSource
//   writer.save(model, "model.onnxar");  // a serialised ModelProto with external data at that location
//
//   const onnxar::ModelReader reader(onnxar::Archive::open("model.onnxar"));
//   for (std::size_t i = 0; i < reader.size(); ++i) reader.read(i, sink);
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/convert.h"
#include "onnxar/options.h"
#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

/// One step from a message to a message in it: a field of onnx.proto, with an index if it is repeated.
struct FieldStep {
  std::string_view field;  ///< valid until the program ends
  std::optional<std::uint64_t> index;
};

/// Gives the model of an archive as a ModelProto without its large payloads, and the payloads one by one. The caller
/// parses `model()`, and gives each tensor that `for_each` names its data as `raw_data`, in place of `external_data`
/// and `data_location`: this is the model that `unpack` writes, at any size. Refuses what `check` calls an error. Owns
/// the archive; move-only. Threads: const members may be called concurrently.
class ModelReader {
 public:
  /// Of `options`, `verify_data` applies to `read`, and `max_expansion` to the data of all tensors against the
  /// archive's size. Errors: as `check` finds them; zip.data.crc (of the model); onnx.model.expansion. Cost:
  /// O(directory + model); no data is read.
  explicit ModelReader(Archive archive, const LoadOptions& options = {});

  ModelReader(ModelReader&& other) noexcept;
  ModelReader& operator=(ModelReader&& other) noexcept;
  ModelReader(const ModelReader&) = delete;
  ModelReader& operator=(const ModelReader&) = delete;
  ~ModelReader();

  /// Serialised. A tensor whose data `read` gives has a location that readers refuse.
  [[nodiscard]] Bytes model() const& noexcept;
  Bytes model() const&& = delete;

  /// The tensors whose data `read` gives.
  [[nodiscard]] std::size_t size() const noexcept;
  /// Bytes of one tensor's data. Errors: usage.no_such_tensor.
  [[nodiscard]] std::uint64_t size_of(std::size_t index) const;
  /// In pieces. Errors: zip.data.crc and onnx.external_data.checksum, after the last piece; usage.no_such_tensor;
  /// usage.argument (an empty sink); exceptions of `sink` pass through.
  void read(std::size_t index, const ByteSink& sink) const;

  /// Visits these tensors in the order of the model, with the steps from the ModelProto to each, such as `graph`,
  /// `node[3]`, `attribute[0]`, `t`. They are valid during the visit. Errors: usage.argument (an empty `visit`);
  /// exceptions of `visit` pass through. Cost: O(fields of the model).
  void for_each(const std::function<void(std::size_t index, std::span<const FieldStep> steps)>& visit) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// The serialised fields that make the data of a TensorProto all `size` bytes at `location`, which is an entry or a
/// result of ModelWriter::add. Append them to a serialised TensorProto without data. The pairs are `location`,
/// `offset`, `length`, in this order, since some readers go by position. For messages in memory see link_tensor.
[[nodiscard]] std::string link_fields(std::string_view location, std::uint64_t size);

/// Saves a model whose weights are sources, which may produce their bytes when they are read. The options decide which
/// become entries and which inline, as for `pack`. Move-only. Failures and threads are as for ArchiveWriter.
class ModelWriter {
 public:
  ModelWriter();
  ModelWriter(ModelWriter&& other) noexcept;
  ModelWriter& operator=(ModelWriter&& other) noexcept;
  ModelWriter(const ModelWriter&) = delete;
  ModelWriter& operator=(const ModelWriter&) = delete;
  ~ModelWriter();

  /// The location for `weight` in this model's `external_data`, valid as long as the writer. Asks for its size once,
  /// and reads nothing yet. Errors: usage.argument (a null pointer, or more than 2^60 bytes); exceptions of `size`.
  [[nodiscard]] std::string add(std::shared_ptr<const ByteSource> weight);

  /// Writes the model. Each weight that a tensor names is read once (with a checksum twice), one after another in the
  /// order of the model. Other external data is in `load.external_data_dir`. May be called again after it succeeded.
  /// Errors: as `pack` and `unpack`; onnx.external_data.marker (a location of another writer), io.source_size;
  /// exceptions of a source.
  ConvertReport save(Bytes model, const std::filesystem::path& output, const SaveOptions& save = {},
                     const LoadOptions& load = {}) const;

  /// As onnxar::replace (convert.h), with weights of this writer too. One with the size of an entry is read once more,
  /// to compare it. May be called again after it succeeded.
  ReplaceReport replace(const std::filesystem::path& archive, Bytes model, const ReplaceOptions& options = {},
                        const LoadOptions& load = {}) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace ONNXAR_API onnxar
