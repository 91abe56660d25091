// Opens an input once, and opens the archive in it.
#include "archive/opened_input.h"

#include <utility>

#include "base/open_file.h"

namespace onnxar {

OpenedInput::OpenedInput(std::filesystem::path path, const RangesOpener& open_ranges)
    : path_(std::move(path)), ranges_(open_ranges ? open_ranges(path_) : nullptr) {
  if (!ranges_) *this = OpenedInput(base::open_file(path_, os::Access::read), path_);
}

OpenedInput::OpenedInput(os::File file, std::filesystem::path path)
    : path_(std::move(path)),
      file_(std::move(file)),
      mapping_(std::make_shared<const base::MappedFile>(base::MappedFile::map(file_, path_))) {}

bool OpenedInput::is_zip() const noexcept { return ranges_ || looks_like_zip(mapping_->bytes()); }

Archive OpenedInput::archive(AdviceOn advice) const {
  return ranges_ ? Archive::open(ranges_) : open_archive(file_, mapping_, path_, {}, advice);
}

}  // namespace onnxar
