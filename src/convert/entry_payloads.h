// Makes payloads of the entries of an archive, and of parts of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "archive/external_tensor.h"
#include "archive/sliced_entries.h"
#include "base/kept.h"
#include "convert/model_source.h"
#include "onnx/external_data.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/options.h"

namespace onnxar {

/// Makes payloads of one archive. Not synchronised, but any number of threads may read the sources.
class EntryPayloads {
 public:
  explicit EntryPayloads(const LoadOptions& options)
      : verify_(options.verify_data), threads_(options.threads), slices_(options.temporary_dir) {}

  /// Returns the payload of `part`, which lies in `entry`. With LoadOptions::verify_data, reading it compares the
  /// CRC-32 of the entry. Throws what Archive::bytes throws.
  [[nodiscard]] Resolved part(base::Kept<const Archive> archive, const ArchiveEntry& entry, Bytes part);
  /// Returns a source of all bytes of `entry`, verified in the same way. Throws what Archive::bytes throws.
  [[nodiscard]] std::shared_ptr<const ByteSource> whole(base::Kept<const Archive> archive,
                                                        const ArchiveEntry& entry) const;

 private:
  /// True if payloads verify their bytes. Bytes that are read in ranges always come through a source, which verifies
  /// them.
  [[nodiscard]] bool verifies(const Archive& archive) const;

  bool verify_;
  std::size_t threads_;
  SlicedEntries slices_;
};

/// Finds the part of an entry that a link to the archive's own file names. The archive begins at `at` in that file, and
/// the part must lie in one of the first `count` entries. Throws onnx.external_data.out_of_range, and what
/// Archive::bytes throws. Cost: O(log entries).
EntryPart part_of_file(const Archive& archive, std::uint64_t at, std::size_t count, const onnx::TensorSite& site,
                       const onnx::ExternalSlice& slice);

}  // namespace onnxar
