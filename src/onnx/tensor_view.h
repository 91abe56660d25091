// One TensorProto on the wire.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "onnx/external_data.h"
#include "onnx/fields.h"
#include "onnxar/tensor.h"
#include "wire/cursor.h"

namespace onnxar::onnx {

/// What a TensorProto says, as positions and views in the model's bytes. Of a field that is given twice the last one
/// holds, as protobuf has it.
struct TensorView {
  wire::Range range;  ///< of the message in the model
  std::string_view name;
  DataType type = DataType::undefined;
  std::vector<std::int64_t> dims;
  std::optional<wire::Range> raw_data;
  bool typed_data = false;  ///< some float_data, int32_data, string_data, ... is there
  /// Which: bit n is of field n. Of a message that was not read from the wire this is not known, and 0.
  std::uint32_t typed_fields = 0;
  bool segment = false;
  /// Whether moving raw_data out and back in gives the same bytes: fields ascend, raw_data is there once, its length in
  /// the shortest form, and nothing says where the data is.
  bool restorable = true;
  std::uint64_t data_location = location_default;
  ExternalData external;

  [[nodiscard]] bool is_external() const noexcept { return data_location == location_external; }
  [[nodiscard]] std::optional<std::uint64_t> expected_size() const noexcept { return payload_size(type, dims); }
  [[nodiscard]] bool has_elements() const noexcept { return std::ranges::find(dims, 0) == dims.end(); }
  /// Whether it has elements and says nowhere what they are, as what somebody will fill in later, or left out.
  [[nodiscard]] bool lacks_data() const noexcept {
    return !is_external() && (!raw_data || raw_data->size() == 0) && !typed_data && has_elements();
  }
};

/// How deep a message lies below the model, and how deep one may lie.
struct Depth {
  std::size_t levels = 0;
  std::size_t most = 100;

  /// Refuses the message at `field` of this one, if there is no room for it. Errors: wire.depth.
  void check_room(const wire::Field& field) const;
};

/// Takes in one dimension, which stood at `offset`. Errors: onnx.tensor.dims (it is negative, or there are too many).
void add_dim(TensorView& tensor, std::uint64_t value, std::uint64_t offset);
/// A shape whose size cannot be told is no shape, whatever the type. Errors: onnx.tensor.dims.
void check_product(const TensorView& tensor);

/// Reads the TensorProto at `range`. Errors: wire.*, onnx.tensor.dims, onnx.external_data.duplicate_key.
TensorView read_tensor(Bytes model, wire::Range range, const Depth& depth = {});

}  // namespace onnxar::onnx
