#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/checked.h"

namespace onnxar::base {
namespace {

/// Mappings begin on pages: how many bytes before `position` one that holds it has to begin.
std::size_t into_page(std::uint64_t position) noexcept {
  return position % static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

MappedFile MappedFile::open(const std::filesystem::path& path) { return map(open_file(path, Access::read), path); }

MappedFile MappedFile::map(const FileDescriptor& file, const std::filesystem::path& path) {
  return map(file.get(), {}, path);
}

MappedFile MappedFile::map(int descriptor, const FilePart& part, const std::filesystem::path& path) {
  const ExaminedFile file = examine(descriptor, part, path);
  if (file.length == 0) return {Bytes(), file.state.identity, nullptr};  // mmap refuses a length of 0
  const std::size_t before = into_page(part.offset);
  void* address = ::mmap(nullptr, before + file.length, PROT_READ, MAP_SHARED, descriptor,
                         static_cast<off_t>(part.offset - before));
  if (address == MAP_FAILED) throw system_error(errno, "cannot map", path);
  const Bytes bytes(static_cast<const std::byte*>(address) + before, file.length);
  MappedFile mapping(bytes, file.state.identity, nullptr);  // which unmaps what it has if the next line throws
  mapping.origin_ = std::make_unique<const FileOrigin>(path, file.state, part.offset, bytes);
  return mapping;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), identity_(other.identity_), origin_(std::move(other.origin_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  MappedFile taken(std::move(other));  // unmaps what was ours when it goes
  std::swap(bytes_, taken.bytes_);
  std::swap(identity_, taken.identity_);
  std::swap(origin_, taken.origin_);
  return *this;
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  const std::size_t before = into_page(reinterpret_cast<std::uintptr_t>(bytes_.data()));
  // The mapping is ours alone, so taking the const away hands nobody a writable view.
  ::munmap(const_cast<std::byte*>(bytes_.data()) - before, before + bytes_.size());
}

}  // namespace onnxar::base
