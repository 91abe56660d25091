// Verifies entries on a thread while others are downloaded.
#include "remote/arrived_entries.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "base/byte_range.h"
#include "base/crc32.h"
#include "base/kept.h"
#include "base/parallel.h"
#include "zip/shared_checks.h"

namespace onnxar {

ArrivedEntries::ArrivedEntries(base::Kept<const zip::Directory> directory, const PartFile& part, std::size_t threads,
                               std::vector<bool> verified)
    : directory_(directory),
      file_(base::MappedFile::map(part.handle(), part.target())),
      threads_(base::allowed_threads(threads)),
      missing_(directory_.entries().size()),
      verified_(std::move(verified)) {
  verified_.resize(missing_.size());
  for (std::size_t i = 0; i < missing_.size(); ++i) {
    missing_[i] = directory_.limit_of(i) - directory_.entries()[i].header_offset;
  }
  for (const base::ByteRange& range : part.ranges().ranges()) count(range, complete_);
  if (threads_ > 1) start();
}

void ArrivedEntries::add(std::span<const base::ByteRange> ranges) {
  std::deque<std::size_t> complete;
  for (const base::ByteRange& range : ranges) count(range, complete);
  std::optional<std::size_t> wrong;
  {
    const std::scoped_lock lock(mutex_);
    complete_.insert(complete_.end(), complete.begin(), complete.end());
    wrong = std::exchange(wrong_, std::nullopt);
  }
  told_.notify_one();
  // The caller reports what is wrong, not the thread: that may take long, and no more data is needed.
  if (wrong) expect_right(*wrong);
}

std::vector<bool> ArrivedEntries::finish() {
  stop();
  if (wrong_) expect_right(*wrong_);
  std::erase_if(complete_, [this](std::size_t index) { return verified_[index]; });
  base::parallel_for(complete_.size(), threads_, [this](std::size_t i) { expect_right(complete_[i]); });
  for (const std::size_t index : complete_) verified_[index] = true;
  return std::move(verified_);
}

/// Counts the range for all entries that have a part in it.
void ArrivedEntries::count(const base::ByteRange& range, std::deque<std::size_t>& complete) {
  const auto entries = directory_.entries();
  // Entries have the order of their offsets. The one before the first that begins after the range does may reach into
  // it.
  const auto after = std::ranges::upper_bound(entries, range.offset, {}, &zip::DirectoryEntry::header_offset);
  auto i = static_cast<std::size_t>(std::max(after - entries.begin(), std::ptrdiff_t{1}) - 1);
  for (; i < entries.size() && entries[i].header_offset < range.end(); ++i) {
    const std::uint64_t begin = std::max(range.offset, entries[i].header_offset);
    const std::uint64_t end = std::min(range.end(), directory_.limit_of(i));
    if (begin >= end) continue;
    missing_[i] -= end - begin;
    if (missing_[i] == 0) complete.push_back(i);
  }
}

void ArrivedEntries::start() {
  try {
    thread_.emplace([this] { work(); });
  } catch (const std::system_error&) {
    threads_ = 1;  // the system starts no more
  }
}

/// Ends the thread without finishing the current entry.
void ArrivedEntries::stop() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  told_.notify_one();
  thread_.reset();
}

void ArrivedEntries::work() noexcept {
  std::unique_lock lock(mutex_);
  while (true) {
    told_.wait(lock, [this] { return stopped_ || !complete_.empty(); });
    if (stopped_) return;
    const std::size_t index = complete_.front();
    if (verified_[index]) {
      complete_.pop_front();
      continue;
    }
    lock.unlock();
    const bool right = is_right(index);
    lock.lock();
    if (!right && stopped_) return;  // it is left in the queue
    complete_.pop_front();
    verified_[index] = right;
    if (right) continue;
    wrong_ = index;
    return;
  }
}

/// Proves the local header again: opening proved the bytes that the server sent at that time.
Bytes ArrivedEntries::data_of(std::size_t index) const {
  const std::uint64_t offset = directory_.prove_local(file_.bytes(), index).data_offset;
  return base::section(file_.bytes(), offset, directory_.entries()[index].size);
}

/// Gives up when it is stopped. `expect_right` reports what is wrong with an entry.
bool ArrivedEntries::is_right(std::size_t index) const noexcept try {
  constexpr std::size_t step = 16U << 20U;
  std::uint32_t crc = 0;
  for (Bytes rest = data_of(index); !rest.empty(); rest = rest.subspan(std::min(step, rest.size()))) {
    if (stopped_) return false;
    crc = base::crc32(crc, rest.first(std::min(step, rest.size())));
  }
  return crc == directory_.entries()[index].crc32;
} catch (...) {
  return false;
}

void ArrivedEntries::expect_right(std::size_t index) const {
  const zip::DirectoryEntry& entry = directory_.entries()[index];
  const Bytes bytes = data_of(index);
  const std::uint32_t crc = base::crc32(0, bytes);
  if (crc == entry.crc32) return;
  const auto offset = static_cast<std::uint64_t>(bytes.data() - file_.bytes().data());
  throw zip::crc_fault({std::string(entry.name), offset}, "the archive", entry.crc32, crc);
}

}  // namespace onnxar
