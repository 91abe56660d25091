// Reads one TensorProto on the wire.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "onnx/external_data.h"
#include "onnx/fields.h"
#include "onnx/wire.h"
#include "onnxar/bytes.h"
#include "onnxar/tensor.h"

namespace onnxar::onnx {

/// True if the field of a TensorProto holds values in a typed field: float_data, int32_data, string_data, ... A field
/// whose wire type differs from the schema's is an unknown field, as in protobuf, here and below.
bool is_typed_data_field(const Field& field) noexcept;
/// True if the field holds a tensor's data or its location. All these fields are removed when the data moves, including
/// empty runs of values, which are not data. A data_location of DEFAULT, as PyTorch writes it, is not one of them: it
/// stays, so that a round trip keeps it. The EXTERNAL of a link follows it, and the last one counts.
bool moves_with_data(const Field& field) noexcept;
/// Returns the value of data_location, if this is that field and the schema has the value.
std::optional<std::uint64_t> data_location_of(const Field& field) noexcept;

/// A TensorProto, as positions and views in the model's bytes. If a field occurs more than once, the last occurrence
/// counts, as in protobuf.
struct TensorView {
  Range range;  ///< of the message in the model
  std::string_view name;
  DataType type = DataType::undefined;
  std::vector<std::int64_t> dims;
  std::optional<Range> raw_data;
  bool typed_data = false;  ///< float_data, int32_data, string_data, ... hold values
  /// The typed fields with values: bit n is set for field n. 0 if the message was not read from the wire.
  std::uint32_t typed_fields = 0;
  bool segment = false;
  /// True if removing raw_data and inserting it again gives the same bytes: fields are in ascending order, raw_data
  /// occurs once, with a length of the shortest form, and no field links to data outside.
  bool restorable = true;
  std::uint64_t data_location = location_default;
  ExternalData external;

  [[nodiscard]] bool is_external() const noexcept { return data_location == location_external; }
  /// Returns the location of external data. Absent if the data is in the model, whatever the pairs state.
  [[nodiscard]] std::optional<std::string_view> linked_location() const noexcept {
    return is_external() ? external.location : std::nullopt;
  }
  [[nodiscard]] bool has_elements() const noexcept { return std::ranges::find(dims, 0) == dims.end(); }
  /// Returns the bytes that type and dimensions call for (M18). Absent for strings, and for elements of an unknown
  /// type.
  [[nodiscard]] std::optional<std::uint64_t> expected_size() const noexcept {
    if (!has_elements() && type != DataType::string) return 0;
    return payload_size(type, dims);
  }
  /// True if it has elements but no values: weights that are filled in later, or a model in text form without its data
  /// (R11).
  [[nodiscard]] bool lacks_data() const noexcept {
    return !is_external() && (!raw_data || raw_data->size() == 0) && !typed_data && has_elements();
  }
};

/// Adds one dimension, which was read at `offset`. Throws onnx.tensor.dims (it is negative, or the tensor has too
/// many).
void add_dim(TensorView& tensor, std::uint64_t value, std::uint64_t offset);
/// Refuses a shape whose number of elements or bytes does not fit in 64 bits (M17). Throws onnx.tensor.dims.
void check_product(const TensorView& tensor);

/// Reads the TensorProto at `range`, which is `depth` messages below the model. Throws wire.*, onnx.tensor.dims or
/// onnx.external_data.duplicate_key.
TensorView read_tensor(Bytes model, Range range, std::size_t depth = 0);

}  // namespace onnxar::onnx
