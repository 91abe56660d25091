// Rules for a tensor with external data, and the part of an archive that it names.
#pragma once

#include <cstdint>

#include "onnx/tensor_view.h"
#include "onnxar/archive.h"

namespace onnxar {

/// Errors, at the tensor's offset: onnx.external.string, onnx.external.data_beside.
void check_link(const onnx::TensorView& tensor);
/// Compares a length with the one that data type and dims call for, if they do. Errors: onnx.tensor.length.
void check_length(const onnx::TensorView& tensor, std::uint64_t length);
/// The link of an external tensor, proved as far as that needs no look at the data. Errors: as `check_link`,
/// `check_length`, parse_external_data.
onnx::ExternalSlice proved_link(const onnx::TensorView& tensor);

/// The part of the entry that the link names; without a length, as much as data type and dims call for, or all the
/// rest. Errors: onnx.external_data.out_of_range; as Archive::bytes.
Bytes part_of(const Archive& archive, const ArchiveEntry& entry, const onnx::TensorView& tensor,
              const onnx::ExternalSlice& slice);

struct NamedPart {
  ArchiveEntry entry;
  Bytes bytes;
};
/// The part of the entry that has the link's location for its name. Errors: as `part_of`; onnx.external_data.missing.
NamedPart part_named(const Archive& archive, const onnx::TensorView& tensor, const onnx::ExternalSlice& slice);

}  // namespace onnxar
