// Loading a model for callers that make its messages with a protobuf of their own, and want all data inside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "onnxar/archive.h"
#include "onnxar/byte_source.h"
#include "onnxar/bytes.h"
#include "onnxar/options.h"
#include "onnxar/visibility.h"

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

}  // namespace ONNXAR_API onnxar
