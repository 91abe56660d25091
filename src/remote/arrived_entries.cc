#include "remote/arrived_entries.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "base/checked.h"
#include "base/crc32.h"
#include "zip/crc_fault.h"

namespace onnxar {

ArrivedEntries::ArrivedEntries(const zip::Directory& directory, const PartFile& part, std::uint64_t size)
    : directory_(directory),
      file_(base::MappedFile::map(part.handle(), part.target())),
      missing_(directory.entries().size()),
      verified_(missing_.size()) {
  for (std::size_t i = 0; i < missing_.size(); ++i) {
    const std::uint64_t first = directory.entries()[i].header_offset / PartFile::piece_size;
    missing_[i] = (directory.limit_of(i) - 1) / PartFile::piece_size - first + 1;
  }
  for (std::uint64_t piece = 0; piece * PartFile::piece_size < size; ++piece) {
    if (part.has(piece)) count(piece, complete_);
  }
  try {
    thread_.emplace([this] { work(); });
  } catch (const std::system_error&) {  // the system gives no more threads
    complete_.clear();
  }
}

void ArrivedEntries::add(std::uint64_t piece) {
  std::deque<std::size_t> complete;
  count(piece, complete);
  const std::scoped_lock lock(mutex_);
  if (fault_) std::rethrow_exception(fault_);
  complete_.insert(complete_.end(), complete.begin(), complete.end());
  told_.notify_one();
}

std::vector<bool> ArrivedEntries::finish() {
  end(Rest::verified);
  if (fault_) std::rethrow_exception(fault_);
  return std::move(verified_);
}

/// Counts the piece for all entries that have a part in it.
void ArrivedEntries::count(std::uint64_t piece, std::deque<std::size_t>& complete) {
  const auto entries = directory_.entries();
  const std::uint64_t begin = piece * PartFile::piece_size;
  // Entries have the order of their offsets. The one before the first that begins after `begin` may reach into it.
  const auto after = std::ranges::upper_bound(entries, begin, {}, &zip::DirectoryEntry::header_offset);
  auto i = static_cast<std::size_t>(std::max(after - entries.begin(), std::ptrdiff_t{1}) - 1);
  for (; i < entries.size() && entries[i].header_offset < begin + PartFile::piece_size; ++i) {
    if (directory_.limit_of(i) > begin && --missing_[i] == 0) complete.push_back(i);
  }
}

void ArrivedEntries::end(Rest rest) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    if (rest == Rest::left) complete_.clear();
  }
  told_.notify_one();
  thread_.reset();
}

void ArrivedEntries::work() noexcept {
  std::unique_lock lock(mutex_);
  while (true) {
    told_.wait(lock, [this] { return ended_ || !complete_.empty(); });
    if (complete_.empty()) return;
    const std::size_t index = complete_.front();
    complete_.pop_front();
    lock.unlock();
    std::exception_ptr fault;
    try {
      verify(index);
    } catch (...) {
      fault = std::current_exception();
    }
    lock.lock();
    verified_[index] = !fault;
    if (!fault) continue;
    fault_ = std::move(fault);
    return;
  }
}

void ArrivedEntries::verify(std::size_t index) const {
  const zip::DirectoryEntry& entry = directory_.entries()[index];
  const std::uint64_t offset = directory_.data_offset(file_.bytes(), index);
  const Bytes bytes = base::section(file_.bytes(), offset, entry.size);
  const std::uint32_t crc = base::crc32(0, bytes);
  if (crc == entry.crc32) return;
  throw zip::crc_fault({std::string(entry.name), offset}, "the archive", entry.crc32, crc, bytes);
}

}  // namespace onnxar
