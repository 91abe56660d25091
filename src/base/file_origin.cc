// Finds out which file a mapped byte came from, and if that file has changed.
#include "base/file_origin.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/byte_range.h"
#include "base/open_file.h"
#include "onnxar/error.h"
#include "os/error.h"

namespace onnxar::base {
namespace {

struct NotedMapping {
  std::atomic<std::uintptr_t> begin = unused;
  std::atomic<std::uintptr_t> end = 0;
  std::atomic<const std::string*> text = nullptr;

  // No mapping begins at such a low address.
  static constexpr std::uintptr_t unused = 0, being_filled = 1;
};

// Fixed places with atomics instead of a list with a lock: the interrupted thread could hold that lock.
std::array<NotedMapping, 1024> places;
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<const std::string*>::is_always_lock_free);

std::uintptr_t address_of(Bytes bytes) noexcept { return reinterpret_cast<std::uintptr_t>(bytes.data()); }
// The difference wraps for an address before `whole`. The result is then beyond any size, so the range check fails.
bool is_part(Bytes part, Bytes whole) noexcept {
  return in_range(address_of(part) - address_of(whole), part.size(), whole.size());
}
std::uintptr_t begin_of(const FileOrigin* origin) noexcept { return address_of(origin->bytes()); }

}  // namespace

FileOrigin::FileOrigin(std::filesystem::path path, const os::FileStatus& status, std::uint64_t offset,
                       Kept<Bytes> bytes)
    : path_(std::move(path)), status_(status), offset_(offset), bytes_(bytes), place_(places.size()) {
  if (path_.empty() || bytes.empty()) return;
  text_ = escaped_path(path_);
  const std::uintptr_t begin = address_of(bytes);
  for (place_ = 0; place_ < places.size(); ++place_) {
    NotedMapping& place = places.at(place_);
    std::uintptr_t expected = NotedMapping::unused;
    if (!place.begin.compare_exchange_strong(expected, NotedMapping::being_filled)) continue;
    place.end = begin + bytes.size();
    place.text = &text_;
    place.begin = begin;  // last: a handler recognises a used place by it
    return;
  }
}

FileOrigin::~FileOrigin() {
  if (place_ < places.size()) places.at(place_).begin = NotedMapping::unused;
}

std::string_view mapped_file_at(const void* address) noexcept {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  for (const NotedMapping& place : places) {
    const std::uintptr_t begin = place.begin;
    if (begin <= NotedMapping::being_filled || wanted < begin || wanted >= place.end) continue;
    const std::string* const text = place.text;
    // Otherwise the place was reused for another mapping meanwhile. The mapping of the address cannot vanish, because
    // it is being read.
    if (place.begin == begin) return *text;
  }
  return {};
}

std::optional<OpenPlace> FileOrigin::open(Bytes part) const {
  if (!is_part(part, bytes_)) return std::nullopt;
  std::error_code failed;
  os::File file = os::open(path_, os::Access::read, failed);
  // While the mapping lives, the system does not give the inode number to a different file, even if this one is
  // deleted.
  if (failed || os::status_of(file, failed).identity != status_.identity || failed) return std::nullopt;
  return OpenPlace{std::move(file), offset_ + static_cast<std::uint64_t>(part.data() - bytes_.data())};
}

bool FileOrigin::is_changed() const noexcept {
  if (path_.empty()) return false;
  std::error_code failed;
  const os::FileStatus status = os::status_of(path_, failed);
  if (failed) return os::reason_of(failed) == os::Reason::not_found;  // a file that cannot be examined may be the same
  return status != status_;
}

void FileOrigin::expect_unwritten() const { expect_state(Growth::allowed); }

void FileOrigin::expect_whole() const { expect_state(Growth::refused); }

void FileOrigin::expect_state(Growth growth) const {
  std::error_code failed;
  const os::FileStatus status = os::status_of(path_, failed);
  if (failed || status.identity != status_.identity) return;
  if (growth == Growth::allowed && status.size > status_.size) return;
  if (status.size != status_.size || status.modified != status_.modified) throw changed_while_read(path_);
}

FileOrigins::FileOrigins(const ByteSource& source, std::uint64_t smallest) {
  source.locate([&](const Location& run) {
    // A model may have a million runs, most of them in the same file as the run before. This check keeps the list short
    // without a search; the few duplicates that remain do not matter to `find`.
    const auto* const file = static_cast<const FileOrigin*>(run.file);
    const bool is_known = !by_address_.empty() && by_address_.back() == file;
    if (file != nullptr && run.bytes.size() >= smallest && !is_known) by_address_.push_back(file);
  });
  std::ranges::sort(by_address_, {}, begin_of);
}

const FileOrigin* FileOrigins::find(Bytes bytes) const noexcept {
  const auto after = std::ranges::upper_bound(by_address_, address_of(bytes), {}, begin_of);
  if (after == by_address_.begin()) return nullptr;
  const FileOrigin* const origin = *std::prev(after);
  return is_part(bytes, origin->bytes()) ? origin : nullptr;
}

void FileOrigins::expect_unwritten() const {
  for (const FileOrigin* file : by_address_) file->expect_unwritten();
}

}  // namespace onnxar::base
