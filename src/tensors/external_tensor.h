// Checks a tensor with external data, and finds the part of an archive that it names.
#pragma once

#include <cstdint>

#include "onnx/tensor_view.h"
#include "onnxar/archive.h"

namespace onnxar {

/// Checks that the tensor may have external data. Errors, at the tensor's offset: onnx.external.string,
/// onnx.external.data_beside.
void check_link(const onnx::TensorView& tensor);
/// Compares `length` in bytes with the size that data type and dims require, if it is known. Errors:
/// onnx.tensor.length.
void check_length(const onnx::TensorView& tensor, std::uint64_t length);
/// Parses the link of an external tensor, and proves everything that does not need the data. Errors: as `check_link`,
/// `check_length`, onnx::parse_external_data.
onnx::ExternalSlice proved_link(const onnx::TensorView& tensor);

/// The part of `entry` that the link names. Without a length it has the size that data type and dims require or, if
/// that is unknown, ends with the entry. Errors: onnx.external_data.out_of_range; as Archive::bytes.
Bytes part_of(const Archive& archive, const ArchiveEntry& entry, const onnx::TensorView& tensor,
              const onnx::ExternalSlice& slice);

/// A part of an entry, or all of it.
struct EntryPart {
  ArchiveEntry entry;
  Bytes bytes;
};
/// Finds the entry whose name is the link's location, and the part that the link names. Errors: as `part_of`;
/// onnx.external_data.missing.
EntryPart part_named(const Archive& archive, const onnx::TensorView& tensor, const onnx::ExternalSlice& slice);

}  // namespace onnxar
