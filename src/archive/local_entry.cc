// Proves the local header of an entry of an open archive.
#include "archive/local_entry.h"

#include "archive/access.h"
#include "archive/opening.h"
#include "onnxar/error.h"

namespace onnxar {

zip::LocalEntry local_entry(const Archive& archive, std::size_t index) {
  return errors_with_archive(archive, [&] {
    static_cast<void>(ArchiveAccess::reader(archive).read(index, {}));
    return ArchiveAccess::directory(archive).local(archive.file(), index);
  });
}

}  // namespace onnxar
