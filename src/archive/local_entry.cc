// Proves the local headers of entries of an open archive.
#include "archive/local_entry.h"

#include "archive/access.h"
#include "archive/evidence.h"
#include "base/annotated.h"

namespace onnxar {

zip::LocalEntry local_entry(const Archive& archive, std::size_t index) {
  return base::annotated(evidence_of(archive), [&] {
    static_cast<void>(ArchiveAccess::reader(archive).read(index, {}));
    return ArchiveAccess::directory(archive).local(archive.file(), index);
  });
}

void locate_all(const Archive& archive) {
  for (std::size_t i = 0; i < archive.size(); ++i) static_cast<void>(archive.locate(archive.entry(i)));
}

}  // namespace onnxar
