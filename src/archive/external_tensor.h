// Checks a tensor with external data, and finds the part of an archive that it names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "onnx/sites.h"
#include "onnx/tensor_view.h"
#include "onnxar/archive.h"
#include "onnxar/content.h"
#include "onnxar/error.h"
#include "onnxar/tensor.h"

namespace onnxar {

/// Converts a message of any protobuf library, so that the rules for serialised tensors apply to it. The result views
/// the message. All of its offsets are 0, and the ranges of typed fields are unknown. Errors: onnx.tensor.dims,
/// onnx.external_data.duplicate_key.
onnx::TensorView view_of(const TensorMessage& message);

/// Checks that the tensor may have external data. Errors, at the tensor's offset: onnx.external.string,
/// onnx.external.data_beside.
void check_link(const onnx::TensorView& tensor);
/// Compares `length` in bytes with the size that data type and dims require, if it is known. Errors:
/// onnx.tensor.length.
void check_length(const onnx::TensorView& tensor, std::uint64_t length);
/// Parses the link of an external tensor, and proves everything that does not need the data. Errors: as `check_link`,
/// `check_length`, onnx::parse_external_data.
onnx::ExternalSlice proved_link(const onnx::TensorView& tensor);
/// As `proved_link`, but takes two things that archives must not have and that ONNX's own programs accept in a `.onnx`
/// file: a length of 0 for a tensor with elements, which counts as no length, and data in the model beside the link.
/// The caller compares such data with the link's.
onnx::ExternalSlice exported_link(const onnx::TensorView& tensor);

/// Where the part of `entry` is that the link names. Without a length it has the size that data type and dims require
/// or, if that is unknown, ends with the entry. Errors: onnx.external_data.out_of_range; as Archive::bytes.
Bytes part_of(const Archive& archive, const ArchiveEntry& entry, const onnx::TensorView& tensor,
              const onnx::ExternalSlice& slice);

/// The place of a part of an entry, or of all of it (ArchiveAccess::place).
struct EntryPart {
  ArchiveEntry entry;
  Bytes bytes;
};
/// Finds the entry whose name is the link's location, and the place of the part that the link names. Errors: as
/// `part_of`; onnx.external_data.missing.
EntryPart part_named(const Archive& archive, const onnx::TensorView& tensor, const onnx::ExternalSlice& slice);
/// The bytes at such a place, which are read now if the archive is read by ranges. Errors: as Archive::bytes.
Bytes bytes_of(const Archive& archive, const EntryPart& part);

// How messages and reports describe a tensor.

/// Names a tensor and its site: `tensor "w" (graph.initializer[3])`.
std::string describe(const onnx::TensorSite& site);

/// How many of the sites an error lists.
inline constexpr std::size_t most_candidates = 20;
/// Returns the error for a text that means `count` tensors, with `advice` and the sites of the first `most_candidates`.
/// Code: usage.ambiguous_tensor.
Error ambiguous_tensor(std::string_view text, std::size_t count, std::string_view advice,
                       std::span<const std::string> sites);

/// The warning that a tensor with elements has no data (R11). `place` is that of the tensor in the input.
/// REQUIRES: site.tensor.lacks_data()
Finding no_data(const onnx::TensorSite& site, Place place);

/// Says that the graph of a tensor defines its name more than once, and `then`, what follows from that.
std::string duplicate_text(const onnx::TensorSite& site, std::string_view then);

/// The public description of a tensor. Copies its name.
TensorInfo info_of(const onnx::TensorSite& site);

}  // namespace onnxar
