#include "base/file_origin.h"

#include <algorithm>
#include <iterator>
#include <system_error>

#include "base/checked.h"
#include "os/error.h"

namespace onnxar::base {
namespace {

std::uintptr_t address_of(Bytes bytes) noexcept { return reinterpret_cast<std::uintptr_t>(bytes.data()); }
// The difference wraps for an address before `whole`. The result is then beyond any size, so the range check fails.
bool is_part(Bytes part, Bytes whole) noexcept {
  return in_range(address_of(part) - address_of(whole), part.size(), whole.size());
}
std::uintptr_t begin_of(const FileOrigin* origin) noexcept { return address_of(origin->bytes()); }

}  // namespace

std::optional<OpenPlace> FileOrigin::open(Bytes part) const {
  if (!is_part(part, bytes_)) return std::nullopt;
  std::error_code failed;
  os::File file = os::open(path_, os::Access::read, failed);
  // While the mapping lives, the system does not give the inode number to a different file, even if this one is
  // deleted.
  if (failed || identity_of(file) != status_.identity) return std::nullopt;
  return OpenPlace{std::move(file), offset_ + static_cast<std::uint64_t>(part.data() - bytes_.data())};
}

bool FileOrigin::is_changed() const noexcept {
  if (path_.empty()) return false;
  std::error_code failed;
  const os::FileStatus status = os::status_of(path_, failed);
  if (failed) return os::reason_of(failed) == os::Reason::not_found;  // what cannot be examined is not known to differ
  return status != status_;
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

}  // namespace onnxar::base
