// Finds the data of a model in files beside it.
#include "convert/file_source.h"

#include <utility>

#include "archive/external_tensor.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "os/file.h"

namespace onnxar {

Resolved FileSource::find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) {
  const std::uint64_t place = site.tensor.range.begin;
  if (!files_) {
    throw Error(
        Code::onnx_external_missing,
        base::concat("its data is in the file ", base::quoted(slice.location), ", but a model in memory has no folder"),
        {"", place}, {}, {Hint::data_folder_of_bytes});
  }
  if (const Archive* archive = linked_archive(slice.location, place)) {
    const auto [entry, part] =
        part_of_file(*archive, marker_.of(*this, slice.location)->offset, archive->size(), site, slice);
    return payloads_.part(*archive, entry, part);
  }
  ExternalFiles::Part part = files_->resolve(slice, site.tensor.expected_size(), place);
  return {onnxar::payload_of(std::move(part.bytes), part.file), part.is_whole};
}

/// Allows data beside a link only if there are files to compare it with; a model in memory has none.
onnx::ExternalSlice FileSource::link_of(const onnx::TensorView& tensor) const {
  return files_ ? exported_link(tensor) : proved_link(tensor);
}

const Archive* FileSource::linked_archive(const std::string& location, std::uint64_t offset_of_tensor) {
  // The marker names one archive, so one mapping serves all tensors. Other locations name data files.
  if (marker_.of(*this, location) == nullptr) return nullptr;
  if (!linked_) {
    const std::string& folder = marker_.of(*this, location)->folder;
    const ExternalFiles::Mapping file = files_->map_archive(location, folder, offset_of_tensor);
    linked_ = std::make_shared<const Archive>(
        marker_.open(*this, file->bytes(), file, files_->archive_path(location, folder), file->origin()));
  }
  return linked_.get();
}

const ExternalFiles* files_of(const ModelSource& source) {
  const auto* const file = dynamic_cast<const FileSource*>(&source);
  return file == nullptr ? nullptr : file->files();
}

}  // namespace onnxar
