// Streaming models, for programs with their own protobuf classes for ONNX's messages: loading a model with all data
// inline, and saving a model whose weights come from any source.
//
// ModelReader gives the ModelProto of an archive and the bytes of its tensors one by one. ModelWriter takes weights as
// sources, then the ModelProto. Neither holds all weights in memory. Callbacks and sources run on the thread of the
// call.
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

/// One step from a message to a message in it: a field of onnx.proto, and an index if the field is repeated.
struct FieldStep {
  std::string_view field;  ///< valid until the program ends
  std::optional<std::uint64_t> index;
};

/// Reads the model of an archive as a ModelProto without its large payloads, and the payloads one by one. The caller
/// parses `model()`. Each tensor that `for_each` names gets its data as `raw_data`, in place of `external_data` and
/// `data_location`. The result is the model that `unpack` writes, at any size.
///
/// Refuses what `check` calls an error. Owns the archive; move-only. Threads: const members may be called concurrently.
class ModelReader {
 public:
  /// Two members of `options` apply: with `verify_data`, CRC-32s and checksums are compared while data is read;
  /// `max_expansion` limits the data of all tensors to so many times the archive's size. Errors: as `check` finds them;
  /// zip.data.crc (of the model); onnx.model.expansion (many tensors share bytes). Cost: O(directory + model); no data
  /// is read.
  explicit ModelReader(Archive archive, const LoadOptions& options = {});

  ModelReader(ModelReader&& other) noexcept;
  ModelReader& operator=(ModelReader&& other) noexcept;
  ModelReader(const ModelReader&) = delete;
  ModelReader& operator=(const ModelReader&) = delete;
  ~ModelReader();

  /// The serialised ModelProto. A tensor whose data `read` gives has external data at a location that readers refuse.
  [[nodiscard]] Bytes model() const& noexcept;
  Bytes model() const&& = delete;

  /// The number of tensors whose data `read` gives.
  [[nodiscard]] std::size_t size() const noexcept;
  /// The size of one tensor's data, in bytes. Errors: usage.no_such_tensor (index >= size()).
  [[nodiscard]] std::uint64_t size_of(std::size_t index) const;
  /// Hands the data to `sink`, in pieces. Errors: zip.data.crc and onnx.external_data.checksum, after the last piece;
  /// usage.no_such_tensor; usage.argument (an empty sink); exceptions of `sink` pass through.
  void read(std::size_t index, const ByteSink& sink) const;

  /// Visits these tensors in the order of the model, each with the steps from the ModelProto to it, such as `graph`,
  /// `node[3]`, `attribute[0]`, `t`. The steps are valid during the visit. Errors: usage.argument (an empty `visit`);
  /// exceptions of `visit` pass through. Cost: O(fields of the model).
  void for_each(const std::function<void(std::size_t index, std::span<const FieldStep> steps)>& visit) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// The serialised fields that make the data of a TensorProto all `size` bytes at `location`, which is an entry or a
/// result of ModelWriter::add. Append them to a serialised TensorProto without data. external_data is `location`,
/// `offset` (0) and `length`, in this order, since some readers take the pairs by position. For messages in memory,
/// see link_tensor (resolve.h).
[[nodiscard]] std::string link_fields(std::string_view location, std::uint64_t size);

/// Saves a model. Weights are added as sources, which may produce their bytes when they are read. Then comes the
/// ModelProto, in which these tensors have external data at the locations that `add` returned. As for `pack`, the
/// options decide which weights become entries and which become inline. Move-only. Failures and threads are as for
/// ArchiveWriter (usage.writer_failed, usage.writer_busy).
class ModelWriter {
 public:
  ModelWriter();
  ModelWriter(ModelWriter&& other) noexcept;
  ModelWriter& operator=(ModelWriter&& other) noexcept;
  ModelWriter(const ModelWriter&) = delete;
  ModelWriter& operator=(const ModelWriter&) = delete;
  ~ModelWriter();

  /// The location for `weight` in this model's `external_data`, valid as long as the writer. Asks for its size, once,
  /// and reads nothing yet. Errors: usage.argument (a null pointer, or more than 2^60 bytes); exceptions of `size`.
  [[nodiscard]] std::string add(std::shared_ptr<const ByteSource> weight);

  /// Writes the model. Each weight that a tensor names is read once (twice with a checksum), one after another and in
  /// the order of the model. Other external data is in `load.external_data_dir`. Inline data of `model` is treated as
  /// that of a `.onnx` file. May be called again after it succeeded. Errors: as `pack` and `unpack`;
  /// onnx.external_data.marker (a location of another writer), io.source_size, and exceptions of a source.
  ConvertReport save(Bytes model, const std::filesystem::path& output, const SaveOptions& save = {},
                     const LoadOptions& load = {}) const;

  /// Makes `model` the model of the archive at `archive` in place, as onnxar::replace (convert.h) does. In it, tensors
  /// have external data at locations that `add` returned, at entries of the archive, or in files, as there. A weight
  /// whose size is that of an entry is read once more, to compare it with the entry. May be called again after it
  /// succeeded. Errors: as onnxar::replace and `save`.
  ReplaceReport replace(const std::filesystem::path& archive, Bytes model, const ReplaceOptions& options = {},
                        const LoadOptions& load = {}) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace ONNXAR_API onnxar
