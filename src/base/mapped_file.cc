#include "base/mapped_file.h"

#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "base/checked.h"
#include "os/pages.h"

namespace onnxar::base {
namespace {

/// How many bytes before `position`, in the file or in memory, the mapping that holds it begins.
std::size_t into_page(std::uint64_t position) noexcept { return position % os::mapping_granularity(); }

/// What is mapped where.
struct KnownMapping {
  Bytes bytes;
  std::uint64_t offset = 0;  // of the first one in the file
  os::FileStatus status;
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
    const auto after = by_begin_.upper_bound(address_of(bytes));
    if (after == by_begin_.begin()) return std::nullopt;
    const auto& [begin, mapping] = *std::prev(after);
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

MappedFile MappedFile::open(const std::filesystem::path& path) { return map(open_file(path, os::Access::read), path); }

MappedFile MappedFile::map(os::Handle file, const std::filesystem::path& path) { return map(file, {}, path); }

MappedFile MappedFile::map(os::Handle file, const FilePart& part, const std::filesystem::path& path) {
  const ExaminedFile found = examine(file, part, path);
  if (found.length == 0) return {Bytes(), found.status.identity};  // no system maps 0 bytes
  const std::size_t before = into_page(part.offset);
  std::error_code failed;
  const Bytes mapped = os::map(file, part.offset - before, before + found.length, failed);
  if (failed) throw system_error(failed, "cannot map", path);
  MappedFile mapping(mapped.subspan(before), found.status.identity);
  known_mappings().add({mapping.bytes_, part.offset, found.status, path});
  return mapping;
}

std::optional<OpenPlace> MappedFile::find(Bytes bytes) {
  const auto known = known_mappings().find(bytes);
  if (!known) return std::nullopt;
  std::error_code failed;
  os::File file = os::open(known->path, os::Access::read, failed);
  // The mapping keeps the file from being deleted, and so its number from being given to another file.
  if (failed || identity_of(file) != known->status.identity) return std::nullopt;
  return OpenPlace{std::move(file), known->offset + static_cast<std::uint64_t>(bytes.data() - known->bytes.data())};
}

bool MappedFile::is_changed(Bytes bytes) {
  const auto known = known_mappings().find(bytes);
  return known && !known->path.empty() && status_of(known->path) != known->status;
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
  os::unmap(Bytes(bytes_.data() - before, before + bytes_.size()));
}

}  // namespace onnxar::base
