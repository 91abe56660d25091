// Makes the source of a side file: a whole file, in one state.
#pragma once

#include <functional>
#include <memory>

#include "base/mapped_file.h"
#include "onnxar/bytes.h"

namespace onnxar {

using OpensFile = std::function<std::shared_ptr<const base::MappedFile>()>;

/// Returns a source of the file that `open` maps. A large file stays mapped, so that its blocks can be shared; a small
/// one is mapped while it is read, because a process can have about 65 000 mappings. Reading throws io.changed if the
/// file has another size or was written to since. Throws what `open` throws.
std::shared_ptr<const ByteSource> whole_file(const OpensFile& open);

/// Returns the same source for a file that the caller has just mapped with `open`.
std::shared_ptr<const ByteSource> whole_file(std::shared_ptr<const base::MappedFile> file, OpensFile open);

}  // namespace onnxar
