#include "base/mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace onnxar::base {

MappedFile MappedFile::open(const std::filesystem::path& path) { return map(open_file(path, Access::read), path); }

MappedFile MappedFile::map(const FileDescriptor& file, const std::filesystem::path& path) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) throw system_error(errno, "cannot examine", path);
  if (!S_ISREG(status.st_mode)) {
    throw Error(
        Code::io_not_a_file,
        S_ISDIR(status.st_mode) ? "is a folder; name a file" : "is not a regular file; only files can be mapped", {},
        path);
  }
  const FileIdentity identity{status.st_dev, status.st_ino};
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return {Bytes(), identity};  // mmap refuses a length of 0
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  if (address == MAP_FAILED) throw system_error(errno, "cannot map", path);
  return {Bytes(static_cast<const std::byte*>(address), size), identity};
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), identity_(other.identity_) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  MappedFile taken(std::move(other));  // unmaps what was ours when it goes
  std::swap(bytes_, taken.bytes_);
  std::swap(identity_, taken.identity_);
  return *this;
}

MappedFile::~MappedFile() {
  // The mapping is ours alone, so taking the const away hands nobody a writable view.
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace onnxar::base
