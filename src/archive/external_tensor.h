// Checks a tensor with external data, and finds the bytes that it names in an archive.
#pragma once

#include <cstdint>

#include "onnx/tensor_view.h"
#include "onnxar/archive.h"
#include "onnxar/resolve.h"

namespace onnxar {

/// Converts a message of any protobuf library, so that the rules for serialised tensors apply to it. The result views
/// the message. All of its offsets are 0, and the ranges of typed fields are unknown. Throws onnx.tensor.dims and
/// onnx.external_data.duplicate_key.
onnx::TensorView view_of(const TensorMessage& message);

/// Checks that the tensor may have external data. Throws onnx.external.string and onnx.external.data_beside, at the
/// tensor's offset.
void check_link(const onnx::TensorView& tensor);
/// Throws onnx.tensor.length if `length`, in bytes, differs from the size that data type and dims require. Accepts any
/// length if that size is unknown.
void check_length(const onnx::TensorView& tensor, std::uint64_t length);
/// Parses the link of an external tensor, and checks everything that does not need the data. Throws what `check_link`,
/// `check_length` and onnx::parse_external_data throw.
onnx::ExternalSlice proved_link(const onnx::TensorView& tensor);
/// Does what `proved_link` does, but accepts two things that are valid in a `.onnx` file but not in an archive: a
/// length of 0 for a tensor with elements, which counts as no length, and data in the model beside the link. The caller
/// compares such data with the data that the link names.
onnx::ExternalSlice exported_link(const onnx::TensorView& tensor);

/// Returns where the bytes of `entry` are that the link names. A link without a length names as many bytes as data type
/// and dims require; if that is unknown, all bytes up to the end of the entry. Throws onnx.external_data.out_of_range,
/// and what Archive::bytes throws.
Bytes part_of(const Archive& archive, const ArchiveEntry& entry, const onnx::TensorView& tensor,
              const onnx::ExternalSlice& slice);

/// Says where a part of an entry, or all of it, is (ArchiveAccess::place).
struct EntryPart {
  ArchiveEntry entry;
  Bytes bytes;
};
/// Finds the entry whose name is the link's location, and the bytes in it that the link names. Throws what `part_of`
/// throws, and onnx.external_data.missing.
EntryPart part_named(const Archive& archive, const onnx::TensorView& tensor, const onnx::ExternalSlice& slice);
/// Returns the bytes of the part. Fetches them if the archive is read in ranges. Throws what Archive::bytes throws.
Bytes bytes_of(const Archive& archive, const EntryPart& part);

}  // namespace onnxar
