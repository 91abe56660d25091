// Saving a model whose messages the caller holds, in a protobuf of its own, and whose weights come from anywhere.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "onnxar/byte_source.h"
#include "onnxar/bytes.h"
#include "onnxar/convert.h"
#include "onnxar/options.h"
#include "onnxar/visibility.h"

namespace ONNXAR_API onnxar {

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
