#include "source/file_resolver.h"

#include <utility>

#include "os/names.h"

namespace onnxar {
Resolved resolve_in(ExternalFiles& files, const onnx::TensorView& tensor, const onnx::ExternalSlice& slice) {
  ExternalFiles::Part part = files.resolve(slice, tensor.expected_size(), tensor.range.begin);
  return {payload_of(std::move(part.bytes), part.file), part.is_whole};
}

Resolved MemoryResolver::find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) {
  throw Error(
      Code::onnx_external_missing,
      base::concat("its data is in the file ", base::quoted(slice.location), ", but a model in memory has no folder"),
      {"", site.tensor.range.begin}, {}, {Hint::data_folder_of_bytes});
}

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
