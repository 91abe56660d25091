// Loading a model for callers that make its messages with a protobuf of their own, and want all data inside them.
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

/// One step from a message to a message in it: a field of onnx.proto, and of a repeated one which.
struct FieldStep {
  std::string_view field;  ///< lives as long as the program
  std::optional<std::uint64_t> index;
};

/// The model of an archive as a ModelProto without its large payloads, and these beside it: the counterpart of
/// ModelWriter. The caller parses `model()` and gives each tensor that `for_each` names its data as `raw_data`, in
/// place of `external_data` and `data_location`. That makes the model that `unpack` writes, at any size.
///
/// What `check` calls an error is refused. Owns what it reads; move-only. Threads: const members may be called
/// concurrently.
class ModelReader {
 public:
  /// Of `options`, `verify_data` has CRC-32s and checksums compared while data is read, and `max_expansion` says how
  /// many times the archive's size the data of all tensors may take. Errors: as `check` finds them; zip.data.crc (of
  /// the model); onnx.model.expansion (many tensors share bytes). Cost: O(directory + model); no data is read.
  explicit ModelReader(Archive archive, const LoadOptions& options = {});

  ModelReader(ModelReader&& other) noexcept;
  ModelReader& operator=(ModelReader&& other) noexcept;
  ModelReader(const ModelReader&) = delete;
  ModelReader& operator=(const ModelReader&) = delete;
  ~ModelReader();

  /// The serialised ModelProto. A tensor whose data is beside it has external data at a location that no reader takes.
  [[nodiscard]] Bytes model() const& noexcept;
  Bytes model() const&& = delete;

  /// How many tensors have their data beside the model.
  [[nodiscard]] std::size_t size() const noexcept;
  /// The bytes of one. Errors: usage.no_such_tensor (an index that is not below size()).
  [[nodiscard]] std::uint64_t size_of(std::size_t index) const;
  /// Hands them to `sink`, in pieces. Errors: zip.data.crc and onnx.external_data.checksum, after the last piece;
  /// usage.no_such_tensor; usage.argument (an empty sink); what `sink` throws passes.
  void read(std::size_t index, const ByteSink& sink) const;

  /// Visits these tensors in the order of the model, each with the steps from the ModelProto to it, such as `graph`,
  /// `node[3]`, `attribute[0]`, `t`; they are valid during the visit. Errors: usage.argument (an empty `visit`); what
  /// `visit` throws passes. Cost: O(fields of the model).
  void for_each(const std::function<void(std::size_t index, std::span<const FieldStep> steps)>& visit) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// --- model_writer.h ---
// Saving a model whose messages the caller holds, in a protobuf of its own, and whose weights come from anywhere.

/// The fields of a TensorProto that say that its data is all `size` bytes at `location`: an entry, or what
/// ModelWriter::add gave: its external_data is `location`, `offset` (0) and `length`, in this order, as some readers
/// take the pairs by position. They follow those of a serialised TensorProto that has no data.
[[nodiscard]] std::string link_fields(std::string_view location, std::uint64_t size);

/// Takes weights as sources, which may make their bytes when they are read, and then the ModelProto, in which those
/// tensors have external data at the locations that `add` gave. Which of them become entries, under which keys, and
/// which go into the ModelProto is decided as `convert` does. Move-only. A writer that failed stays failed, and one
/// call is at work at a time: as ArchiveWriter has it (usage.writer_failed, usage.writer_busy).
class ModelWriter {
 public:
  ModelWriter();
  ModelWriter(ModelWriter&& other) noexcept;
  ModelWriter& operator=(ModelWriter&& other) noexcept;
  ModelWriter(const ModelWriter&) = delete;
  ModelWriter& operator=(const ModelWriter&) = delete;
  ~ModelWriter();

  /// The location of `weight` in this model's `external_data`, good until the writer is gone. It is asked for its size,
  /// once; nothing is read yet. Errors: usage.argument (a null pointer); what `size` throws.
  [[nodiscard]] std::string add(std::shared_ptr<const ByteSource> weight);

  /// Writes the model; each weight that some tensor names is read once, one after another, in the order of the model
  /// (twice with a checksum). Other external data lies in `load.external_data_dir`; data inside `model` is looked at as
  /// that of a `.onnx` file is. May be called again after it succeeded.
  /// Errors: as `convert`; onnx.external_data.marker (a location that another writer gave), io.source_size, and what a
  /// source throws.
  ConvertReport save(Bytes model, const std::filesystem::path& output, const SaveOptions& save = {},
                     const LoadOptions& load = {}) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace ONNXAR_API onnxar
