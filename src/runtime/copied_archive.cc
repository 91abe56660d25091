// Reads an archive from front to back, and verifies its entries on the way.
#include "runtime/copied_archive.h"

#include "archive/entry_source.h"
#include "base/byte_range.h"

namespace onnxar {

void CopiedArchive::read(const ByteSink& sink) const {
  std::uint64_t at = 0;
  for (const ArchiveEntry& entry : archive_.entries()) {
    const std::uint64_t data = archive_.locate(entry).offset;
    sink(base::section(archive_.file(), at, data - at));
    EntrySource(archive_, entry).read(sink);
    at = data + entry.size;
  }
  sink(base::section(archive_.file(), at));
}

void CopiedArchive::locate(const std::function<void(const Location&)>& visit) const {
  visit({archive_.file(), true, ArchiveAccess::origin(archive_)});
}

}  // namespace onnxar
