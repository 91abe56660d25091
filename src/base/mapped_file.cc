// Maps files and parts of files.
#include "base/mapped_file.h"

#include <system_error>
#include <utility>

#include "base/file_origin.h"
#include "os/pages.h"

namespace onnxar::base {
namespace {

/// Returns the distance from the start of the page to `position`, in the file or in memory.
std::size_t into_page(std::uint64_t position) noexcept {
  return static_cast<std::size_t>(position % os::mapping_granularity());
}

}  // namespace

MappedFile MappedFile::open(const std::filesystem::path& path) { return map(open_file(path, os::Access::read), path); }

MappedFile MappedFile::map(os::Handle file, const std::filesystem::path& path) { return map(file, {}, path); }

MappedFile MappedFile::map(os::Handle file, const FilePart& part, const std::filesystem::path& path) {
  const ExaminedFile found = examine(file, part, path);
  if (found.length == 0) return {Bytes(), found.status.identity};  // mmap does not accept a length of 0
  const std::size_t before = into_page(part.offset);
  const std::size_t length = found.length_in_memory(path);
  std::error_code failed;
  const Bytes mapped = os::map(file, part.offset - before, before + length, failed);
  if (failed) throw system_error(failed, "cannot map", path);
  MappedFile mapping(mapped.subspan(before), found.status.identity);  // unmaps if the next line throws
  mapping.origin_ = std::make_unique<const FileOrigin>(path, found.status, part.offset, mapping.bytes_);
  return mapping;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), identity_(other.identity_), origin_(std::move(other.origin_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  MappedFile taken(std::move(other));  // gets the old mapping by the swaps, and unmaps it
  std::swap(bytes_, taken.bytes_);
  std::swap(identity_, taken.identity_);
  std::swap(origin_, taken.origin_);
  return *this;
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  origin_.reset();  // before another mapping can get the addresses
  const std::size_t before = into_page(reinterpret_cast<std::uintptr_t>(bytes_.data()));
  os::unmap(Bytes(bytes_.data() - before, before + bytes_.size()));
}

}  // namespace onnxar::base
