// Makes payloads of the entries of an archive, and of parts of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "archive/external_tensor.h"
#include "archive/sliced_entries.h"
#include "base/mapped_file.h"
#include "convert/model_source.h"
#include "onnx/external_data.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/options.h"

namespace onnxar {

/// Makes payloads of one archive, which must outlive them. Threads: one at a time; the sources that it makes may be
/// read on any number at once.
class EntryPayloads {
 public:
  explicit EntryPayloads(const LoadOptions& options)
      : verify_(options.verify_data), threads_(options.threads), slices_(options.temporary_dir) {}

  /// The payload of `part`, which lies in `entry`. With LoadOptions::verify_data, reading it compares the CRC-32 of the
  /// entry. Errors: as Archive::bytes.
  [[nodiscard]] Resolved part(const Archive& archive, const ArchiveEntry& entry, Bytes part);
  /// A source of all bytes of `entry`, verified in the same way. Errors: as Archive::bytes.
  [[nodiscard]] std::shared_ptr<const ByteSource> whole(const Archive& archive, const ArchiveEntry& entry) const;

 private:
  /// Bytes that are read by ranges come through a source, and that verifies them.
  [[nodiscard]] bool verifies(const Archive& archive) const;

  bool verify_;
  std::size_t threads_;
  SlicedEntries slices_;
};

/// Finds the part of an entry that a link to the archive's own file names. The archive begins at `at` in that file, and
/// the part must lie in one of the first `count` entries. Errors: onnx.external_data.out_of_range; as Archive::bytes.
/// Cost: O(log entries).
EntryPart part_of_file(const Archive& archive, std::uint64_t at, std::size_t count, const onnx::TensorSite& site,
                       const onnx::ExternalSlice& slice);

}  // namespace onnxar
