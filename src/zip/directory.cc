// Reads the central directory of a strict archive, and proves local headers at their first use.
#include "zip/directory.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <initializer_list>

#include "base/byte_range.h"
#include "base/checked.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "zip/format.h"
#include "zip/layout.h"
#include "zip/records.h"
#include "zip/shared_checks.h"

namespace onnxar::zip {
namespace {

using base::concat;
using base::hex;

Place at_header(const DirectoryEntry& entry) { return {std::string(entry.name), entry.header_offset}; }
Place in_directory(const DirectoryEntry& entry) { return {std::string(entry.name), entry.central_offset}; }

/// True if local header, name and data fit before `next` if the header has no extra fields. The sum is checked, because
/// `size` comes from the file and was not compared with anything yet.
bool fits_before(const DirectoryEntry& entry, std::uint64_t next) {
  const auto least = base::checked_add(entry.size, local_file_header_size + entry.name.size());
  return least && base::in_range(entry.header_offset, *least, next);
}

}  // namespace

Directory Directory::read(Bytes file, const Limits& limits, const Need& need, KnownZeros* zeros) {
  const auto need_all = [&need](std::initializer_list<base::ByteRange> ranges) {
    if (need) need({ranges.begin(), ranges.size()});
  };
  const auto last = [&file](std::uint64_t length) {
    length = std::min<std::uint64_t>(length, file.size());
    return base::ByteRange{file.size() - length, length};
  };
  need_all({last(end_records_maximum)});
  if (!parse_end_record(base::section(file, last(end_record_size).offset))) {
    // For the error message: all places where the end record could be instead, and whether this begins as a zip.
    need_all(
        {{0, std::min<std::uint64_t>(local_file_header_size, file.size())}, last(end_record_size + comment_maximum)});
  }
  const EndOfArchive end = read_end(file);
  check_limits(end, limits);
  need_all({{end.directory_offset, end.directory_size}});
  Directory directory;
  directory.zeros_ = zeros;
  directory.offset_ = end.directory_offset;
  directory.zip64_ = end.zip64;
  directory.unneeded_zip64_ = end.unneeded_zip64;
  directory.read_headers(file, end.directory_size, end.entries);
  directory.check_positions();
  directory.index_names();
  directory.proofs_ =
      std::make_unique<std::atomic<std::uint64_t>[]>(base::in_memory(end.entries) + 1);  // bounded by E10 and E11
  directory.prove_irregular_entries(file, need);
  return directory;
}

void Directory::read_headers(Bytes file, std::uint64_t size, std::uint64_t count) {
  // A copy, because the mapped bytes may change after they were proved.
  bytes_ = std::make_unique_for_overwrite<std::byte[]>(base::in_memory(size));
  size_ = base::in_memory(size);
  std::memcpy(bytes_.get(), file.data() + offset_, base::in_memory(size));
  Bytes rest(bytes_.get(), base::in_memory(size));
  entries_.reserve(base::in_memory(count));  // check_limits bounded the count by the directory's size (E10)
  while (entries_.size() < count) {
    const std::uint64_t length = read_central_header(rest, offset_ + size - rest.size(), entries_.emplace_back());
    rest = base::section(rest, length);
  }
  check_directory_end(rest, count, offset_ + size - rest.size());  // E10
}

std::uint64_t Directory::limit_of(std::size_t index) const noexcept {
  return index + 1 < entries_.size() ? entries_[index + 1].header_offset : offset_;
}

void Directory::check_positions() const {
  // P1: some readers shift all offsets by the number of bytes before the first entry. They must find the same entries.
  if (entries_.front().header_offset != 0) {
    throw Error(Code::zip_entry_first_offset,
                concat("the first entry begins at ", hex(entries_.front().header_offset),
                       ", not at 0: other bytes precede the archive, or its entries are out of order"),
                in_directory(entries_.front()));
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const DirectoryEntry& entry = entries_[i];
    const std::uint64_t next = limit_of(i);
    const bool last = i + 1 == entries_.size();
    if (next <= entry.header_offset) {  // P2; P4 for the last entry
      throw Error(
          last ? Code::zip_entry_bounds : Code::zip_entry_order,
          std::string(last ? header_after_directory : "entries do not lie in the file in the order of the directory"),
          in_directory(last ? entry : entries_[i + 1]));
    }
    if (!fits_before(entry, next)) {  // P3; P4 for the last entry
      throw Error(
          last ? Code::zip_entry_bounds : Code::zip_entry_overlap,
          concat("the entry's ", entry.size, " bytes run into ",
                 last ? "the directory" : "the next entry " + base::quoted(entries_[i + 1].name), " at ", hex(next)),
          at_header(entry));
    }
  }
}

void Directory::index_names() {
  index_ = index_of_names(
      entries_.size(), [this](std::uint32_t i) { return entries_[i].name; },
      [this](std::uint32_t i) { return entries_[i].central_offset; },
      [this](std::uint32_t i) { return entries_[i].in_folder; });
}

/// Returns the length of a local header without more extra fields than archives need, within the entry's room.
std::uint64_t Directory::usual_length(std::size_t index) const noexcept {
  const DirectoryEntry& entry = entries_[index];
  const std::uint64_t usual =
      local_file_header_size + entry.name.size() + local_zip64_extra_size + padding_minimum + alignment_minimum;
  return std::min(usual, limit_of(index) - entry.header_offset);
}

void Directory::need_headers(Bytes file, const Need& need, std::span<const std::size_t> indices) const {
  std::vector<base::ByteRange> usual, longer;
  for (const std::size_t i : indices) {
    const std::uint64_t limit = limit_of(i), tail = std::min(limit, end_records_maximum);
    usual.insert(usual.end(), {{entries_[i].header_offset, usual_length(i)}, {limit - tail, tail}});
  }
  need(usual);
  for (const std::size_t i : indices) {
    const std::uint64_t begin = entries_[i].header_offset;
    const auto header = parse_local_file_header(base::section(file, begin, local_file_header_size));
    if (!header) continue;  // proving it refuses it
    const std::uint64_t length = local_file_header_size + header->file_name_length + header->extra_field_length;
    if (length <= usual_length(i)) continue;
    // Longer headers are refused because of their length (L15), and so are those that leave the room.
    longer.push_back({begin, std::min({length, local_header_maximum, limit_of(i) - begin})});
  }
  if (!longer.empty()) need(longer);
}

/// Proves the entries to which the shortcut of P5a does not apply: those for which the directory does not determine the
/// place of the data. The shortcut keeps the cost of opening at O(directory): reading every local header of a mapped
/// archive would fault in a page per entry.
void Directory::prove_irregular_entries(Bytes file, const Need& need) {
  std::vector<std::size_t> irregular;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (regular_header_size(i) == 0) irregular.push_back(i);
  }
  if (need && !irregular.empty()) need_headers(file, need, irregular);
  first_after_gap_ = entries_.size();
  for (const std::size_t i : irregular) {
    if (is_followed_by_tail(file, i)) first_after_gap_ = std::min(first_after_gap_, i + 1);
  }
}

bool Directory::is_followed_by_tail(Bytes file, std::size_t index) const {
  return data_offset(file, index) + entries_[index].size != limit_of(index);
}

/// True if the shortcut of P5a took the data to begin on a page. If it begins at a multiple of 64 before that, a
/// superseded tail of exactly that length follows, which opening did not see. Places that are 64 bytes apart hide none:
/// directory and end record have more.
bool Directory::may_hide_tail(std::size_t index) const noexcept {
  constexpr std::size_t most_extra = local_zip64_extra_size + padding_minimum + alignment_minimum;
  return regular_header_size(index) > local_file_header_size + entries_[index].name.size() + most_extra;
}

std::size_t Directory::first_appended(Bytes file) const {
  std::atomic<std::uint64_t>& known = proofs_[entries_.size()];
  std::size_t first = base::in_memory(known.load(std::memory_order_relaxed));
  if (first != 0) return first;
  const auto is_edited_after = [&](std::size_t index) {
    try {
      return may_hide_tail(index) && is_followed_by_tail(file, index);
    } catch (const Error&) {
      return true;  // its first use reports the fault
    }
  };
  while (first + 1 < first_after_gap_ && !is_edited_after(first)) ++first;
  known.store(++first, std::memory_order_relaxed);
  return first;
}

std::optional<std::size_t> Directory::find(std::string_view name) const noexcept {
  return index_.find(name, [this](std::uint32_t i) { return entries_[i].name; });
}

LocalEntry Directory::prove_local(Bytes file, std::size_t index) const {
  const bool last = index + 1 == entries_.size();
  const Tail tail = last ? Tail::forbidden : zip64_ ? Tail::allowed : Tail::without_zip64;
  const LocalEntry local = read_local_header(file, entries_[index], limit_of(index), tail, zeros_);
  keep(index, local);
  return local;
}

/// In one word, because threads may prove the same header: the data is at a multiple of 64, so six bits are free.
void Directory::keep(std::size_t index, const LocalEntry& local) const noexcept {
  const auto power = static_cast<std::uint64_t>(std::countr_zero(local.alignment / alignment_minimum));
  const std::uint64_t word = local.data_offset | power << 1U | std::uint64_t{local.unneeded_zip64};
  // Relaxed order is enough: all threads compute the same value, and no other memory depends on it.
  proofs_[index].store(word, std::memory_order_relaxed);
}

LocalEntry Directory::proved(std::size_t index) const noexcept {
  const std::uint64_t word = proofs_[index].load(std::memory_order_relaxed);
  const std::uint64_t rest = word % alignment_minimum;
  return {word - rest, alignment_minimum << (rest >> 1U), (rest & 1U) != 0};
}

LocalEntry Directory::local(Bytes file, std::size_t index) const {
  const LocalEntry known = proved(index);
  return known.data_offset != 0 ? known : prove_local(file, index);
}

std::size_t Directory::regular_header_size(std::size_t index) const noexcept {
  const DirectoryEntry& entry = entries_[index];
  const std::uint64_t begin = limit_of(index) - entry.size;  // check_positions proved that this cannot wrap
  const bool is_usual = is_usual_place(begin, entry.header_offset, entry.name.size(), entry.size);
  return base::in_memory(is_usual ? begin - entry.header_offset : 0);
}

std::uint64_t Directory::likely_data_offset(std::size_t index) const noexcept {
  const bool is_regular = regular_header_size(index) != 0;
  return is_regular ? limit_of(index) - entries_[index].size : proved_data_offset(index);  // opening proved it
}

void Directory::prove_regular(Bytes header, std::size_t index) const {
  const DirectoryEntry& entry = entries_[index];
  LocalEntry local;
  try {
    local = read_local_header(header, entry);
  } catch (const Error&) {
    return;  // the first use proves it again, and distinguishes a broken file from one that was changed
  }
  // check_positions proved that the size is at most the limit, so the sum cannot wrap.
  if (local.data_offset + entry.size == limit_of(index)) keep(index, local);
}

}  // namespace onnxar::zip
