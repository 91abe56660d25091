// Keeps ranges of a file at the addresses that a mapping of it would have.
#include "base/ranged_memory.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/checked.h"
#include "base/open_file.h"
#include "os/pages.h"

namespace onnxar::base {
namespace {

constexpr std::uint64_t most_ahead = 32U << 20U;  // bytes
constexpr std::size_t large = 4U << 20U;          // bytes; a range of this size justifies its own call

/// Returns the size of the file, which must fit into addresses when rounded up to whole pages.
std::size_t checked_size(const RandomAccess& source) {
  const std::uint64_t size = source.size();
  if (size > most_in_memory - os::mapping_granularity()) refuse_address_space(size, source.name());
  return static_cast<std::size_t>(size);
}

/// Reserves addresses for `size` bytes; none for an empty file.
std::span<std::byte> room_for(std::size_t size, const RandomAccess& source) {
  if (size == 0) return {};
  std::error_code failed;
  const auto room = os::reserve(in_memory(align_up(size, os::mapping_granularity())), failed);
  if (failed) refuse_address_space(size, source.name());
  return room;
}

/// Returns the pages that a range touches.
ByteRange pages_of(const ByteRange& range) {
  const std::uint64_t page = os::mapping_granularity();
  const std::uint64_t begin = range.offset / page * page;
  return {begin, align_up(range.end(), page) - begin};
}

std::span<std::byte> part_of(std::span<std::byte> room, const ByteRange& range) {
  return room.subspan(in_memory(range.offset), in_memory(range.length));
}

}  // namespace

RangedMemory::RangedMemory(std::shared_ptr<const RandomAccess> source)
    : source_(std::move(source)), size_(checked_size(*source_)), room_(room_for(size_, *source_)) {}

RangedMemory::~RangedMemory() {
  if (!room_.empty()) os::unreserve(room_);
}

bool RangedMemory::has(const ByteRange& range) const {
  const std::scoped_lock lock(state_);
  return present_.has(range);
}

std::vector<ByteRange> RangedMemory::missing_of(std::span<const ByteRange> ranges) const {
  RangeSet wanted;
  for (const ByteRange& range : ranges) {
    if (range.length != 0) wanted.add(pages_of(range));
  }
  std::vector<ByteRange> missing;
  const std::scoped_lock lock(state_);
  for (const ByteRange& range : wanted.ranges()) {
    for (const ByteRange& part : present_.missing_in(range)) missing.push_back(part);
  }
  return missing;
}

void RangedMemory::need(std::span<const ByteRange> ranges) const {
  if (std::ranges::all_of(ranges, [this](const ByteRange& range) { return has(range); })) return;
  const std::scoped_lock lock(reading_);
  const std::vector<ByteRange> missing = missing_of(ranges);  // another thread may have read some meanwhile
  std::size_t given = 0;
  try {
    for (; given < missing.size(); ++given) {
      if (const std::error_code failed = os::give_memory(part_of(room_, missing[given]))) {
        throw system_error(failed, "no memory for a part of", source_->name());
      }
    }
    fill(missing);
  } catch (...) {
    for (const ByteRange& range : std::span(missing).first(given)) os::take_memory(part_of(room_, range));
    throw;
  }
  const std::scoped_lock known(state_);
  for (const ByteRange& range : missing) present_.add(range);
}

/// Reads into pages that have memory. The last page may extend beyond the file.
void RangedMemory::fill(std::span<const ByteRange> missing) const {
  std::vector<RangeTarget> targets;
  for (const ByteRange& range : missing) {
    const std::uint64_t end = std::min<std::uint64_t>(range.end(), size_);
    targets.push_back({range.offset, part_of(room_, {range.offset, end - range.offset})});
  }
  if (!targets.empty()) source_->read(targets);
}

void RangedMemory::copy(std::uint64_t offset, std::span<std::byte> target) const {
  if (target.empty()) return;
  if (has({offset, target.size()})) {
    std::ranges::copy(section(bytes(), offset, target.size()), target.begin());
    return;
  }
  const std::scoped_lock lock(reading_);
  if (target.size() >= large) {
    const RangeTarget range{offset, target};
    return source_->read({&range, 1});
  }
  if (offset < ahead_at_ || !in_range(offset - ahead_at_, target.size(), ahead_.size())) {
    read_ahead(offset, target.size());
  }
  std::ranges::copy(section(ahead_, offset - ahead_at_, target.size()), target.begin());
}

/// Replaces the bytes that were read ahead by `length` bytes from `offset` on, and by more if the caller continues
/// after the earlier ones. REQUIRES: `reading_` is held.
void RangedMemory::read_ahead(std::uint64_t offset, std::uint64_t length) const {
  constexpr std::uint64_t most_between = 64U << 10U;  // a few entries that the caller skipped
  const std::uint64_t ahead_end = ahead_at_ + ahead_.size();
  if (offset > ahead_at_ && offset <= ahead_end + most_between) {
    length = std::max(length, std::min<std::uint64_t>(2 * ahead_.size(), most_ahead));
  }
  std::vector<std::byte> read(in_memory(std::min<std::uint64_t>(length, size_ - offset)));
  const RangeTarget target{offset, read};
  source_->read({&target, 1});
  ahead_ = std::move(read);
  ahead_at_ = offset;
}

}  // namespace onnxar::base
