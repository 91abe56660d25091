#include <cstddef>
#include <vector>

#include "onnxar/listing.h"
#include "tensors/entry_uses.h"

namespace onnxar {

std::vector<ArchiveEntry> side_files(const Archive& archive, const LoadOptions& options) {
  const EntryUses uses = uses_of(archive, options);
  std::vector<ArchiveEntry> files;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    if (uses.kind_of(i) == EntryKind::side_file) files.push_back(archive.entry(i));
  }
  return files;
}

}  // namespace onnxar
