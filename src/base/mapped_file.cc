#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "base/checked.h"

namespace onnxar::base {
namespace {

/// Mappings begin on pages: how many bytes before `position` one that holds it has to begin.
std::size_t into_page(std::uint64_t position) noexcept {
  return position % static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// What is mapped where.
struct KnownMapping {
  Bytes bytes;
  std::uint64_t offset = 0;  // of the first one in the file
  FileState state;
  std::filesystem::path path;
};

/// All mappings of the process. No descriptor is kept: there may be more mappings than a process may have files open.
class KnownMappings {
 public:
  void add(KnownMapping mapping) {
    const std::scoped_lock lock(mutex_);
    const std::uintptr_t begin = address_of(mapping.bytes);
    by_begin_.insert_or_assign(begin, std::move(mapping));
  }

  void remove(Bytes bytes) {
    const std::scoped_lock lock(mutex_);
    by_begin_.erase(address_of(bytes));
  }

  /// The one that all of `bytes` are in.
  [[nodiscard]] std::optional<KnownMapping> find(Bytes bytes) const {
    const std::scoped_lock lock(mutex_);
    const auto behind = by_begin_.upper_bound(address_of(bytes));
    if (behind == by_begin_.begin()) return std::nullopt;
    const auto& [begin, mapping] = *std::prev(behind);
    if (!in_range(address_of(bytes) - begin, bytes.size(), mapping.bytes.size())) return std::nullopt;
    return mapping;
  }

 private:
  static std::uintptr_t address_of(Bytes bytes) { return reinterpret_cast<std::uintptr_t>(bytes.data()); }

  mutable std::mutex mutex_;
  std::map<std::uintptr_t, KnownMapping> by_begin_;
};

KnownMappings& known_mappings() {
  static auto* const all = new KnownMappings;  // never deleted: mappings in static storage may outlive all else
  return *all;
}

}  // namespace

MappedFile MappedFile::open(const std::filesystem::path& path) { return map(open_file(path, Access::read), path); }

MappedFile MappedFile::map(const FileDescriptor& file, const std::filesystem::path& path) {
  return map(file.get(), {}, path);
}

MappedFile MappedFile::map(int descriptor, const FilePart& part, const std::filesystem::path& path) {
  const ExaminedFile file = examine(descriptor, part, path);
  if (file.length == 0) return {Bytes(), file.state.identity};  // mmap refuses a length of 0
  const std::size_t before = into_page(part.offset);
  void* address = ::mmap(nullptr, before + file.length, PROT_READ, MAP_SHARED, descriptor,
                         static_cast<off_t>(part.offset - before));
  if (address == MAP_FAILED) throw system_error(errno, "cannot map", path);
  MappedFile mapping(Bytes(static_cast<const std::byte*>(address) + before, file.length), file.state.identity);
  known_mappings().add({mapping.bytes_, part.offset, file.state, path});
  return mapping;
}

std::optional<OpenPlace> MappedFile::find(Bytes bytes) {
  const auto known = known_mappings().find(bytes);
  if (!known) return std::nullopt;
  FileDescriptor file(::open(known->path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe by now: no waiting
  // The mapping keeps the file from being deleted, and with that its number from being given to another one.
  if (!file.valid() || identity_of(file) != known->state.identity) return std::nullopt;
  return OpenPlace{std::move(file), known->offset + static_cast<std::uint64_t>(bytes.data() - known->bytes.data())};
}

bool MappedFile::is_changed(Bytes bytes) {
  const auto known = known_mappings().find(bytes);
  return known && !known->path.empty() && state_of(known->path) != known->state;
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
  if (bytes_.empty()) return;
  known_mappings().remove(bytes_);
  const std::size_t before = into_page(reinterpret_cast<std::uintptr_t>(bytes_.data()));
  // The mapping is ours alone, so taking the const away hands nobody a writable view.
  ::munmap(const_cast<std::byte*>(bytes_.data()) - before, before + bytes_.size());
}

}  // namespace onnxar::base
