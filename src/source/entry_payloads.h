// Parts of the entries of an archive as payloads.
#pragma once

#include <memory>

#include "archive/entry_source.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/options.h"
#include "source/resolver.h"

namespace onnxar {

/// Not synchronised; the sources that it makes are.
class EntryPayloads {
 public:
  explicit EntryPayloads(const LoadOptions& options)
      : verify_(options.verify_data), threads_(options.threads), slices_(options.temporary_dir) {}

  /// `part`, which lies in `entry`; with LoadOptions::verify_data compared with the CRC-32 of the entry when it is
  /// read. All calls are about one archive, which must outlive the payloads. Errors: as Archive::bytes.
  [[nodiscard]] Resolved part(const Archive& archive, const ArchiveEntry& entry, Bytes part);
  /// All bytes of the entry, in the same way.
  [[nodiscard]] std::shared_ptr<const ByteSource> whole(const Archive& archive, const ArchiveEntry& entry) const;

 private:
  bool verify_;
  std::size_t threads_;
  SlicedEntries slices_;
};

/// What a tensor refers to that has the archive's own file, in which the archive begins at `at`, for its location:
/// bytes of one of the first `count` entries. Errors: onnx.external_data.out_of_range; as Archive::bytes.
struct EntryPart {
  ArchiveEntry entry;
  Bytes bytes;
};
EntryPart part_of_file(const Archive& archive, std::uint64_t at, std::size_t count, const onnx::TensorSite& site,
                       const onnx::ExternalSlice& slice);

}  // namespace onnxar
