#include "source/link_resolver.h"

#include "os/names.h"

namespace onnxar {

const Archive* LinkResolver::linked_archive(const std::string& location, std::uint64_t offset_of_tensor) {
  const LinkMarker* marker = marker_.of(location);
  if (marker == nullptr) return nullptr;
  // The marker names one archive, so one mapping serves all tensors.
  if (!linked_) {
    const ExternalFiles::Mapping file = own_files().map(location, offset_of_tensor);
    linked_ = std::make_shared<const Archive>(
        marker_.open(file->bytes(), file, files()->folder() / os::path_of(location), file->origin()));
  }
  return linked_.get();
}

Resolved LinkResolver::find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) {
  const Archive* archive = linked_archive(slice.location, site.tensor.range.begin);
  // The marker names one archive. Other locations are data files, as in any `.onnx` file.
  if (archive == nullptr) return FileResolver::find(site, slice);
  const auto [entry, part] = part_of_file(*archive, marker_.of(slice.location)->offset, archive->size(), site, slice);
  return payloads_.part(*archive, entry, part);
}

}  // namespace onnxar
