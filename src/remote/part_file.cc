// Writes a file that is being downloaded, and the list of the ranges that it already has.
#include "remote/part_file.h"

#include <charconv>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "base/byte_range.h"
#include "base/checked.h"
#include "base/file_lock.h"
#include "base/open_file.h"
#include "base/output_name.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "os/error.h"
#include "os/folder.h"
#include "os/names.h"
#include "remote/pieces.h"

namespace onnxar {
namespace {

using base::concat;

constexpr std::size_t written_back_at_once = 256U << 10U;  // bytes of a write; fewer wait for `publish`
constexpr const char* data_suffix = ".part";
constexpr const char* list_suffix = ".part.list";

void write_fully(os::Handle file, std::uint64_t offset, Bytes bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    std::error_code failed;
    const std::size_t written = os::write_at(file, offset, bytes, {}, failed);
    if (failed) throw base::system_error(failed, "cannot write", path);
    bytes = bytes.subspan(written);
    offset += written;
  }
}

}  // namespace

PartFile::PartFile(base::OutputTarget place, const std::string& version, std::uint64_t size, base::Sync sync, Room room)
    : target_(std::move(place)), size_(size), sync_(sync), data_(target_.folder->open_own(name_of(data_suffix))) {
  std::error_code failed;
  // A process that had the lock until now may have given the file its name: then this process must not write it.
  if (os::try_lock(data_, os::Lock::exclusive, failed) == os::Locking::busy || !has_name(data_, data_suffix)) {
    throw Error(Code::archive_busy, "another process downloads to the same output", {}, target_.path);
  }
  list_ = target_.folder->open_own(name_of(list_suffix));
  const std::string head = concat("onnxar part 2 ", size, " ", version, "\n");
  // The list of a file that was published or removed may be left.
  if (!version.empty() && os::status_of(data_, failed).size == size) read_list(head);
  if (list_end_ == 0) {
    for (const os::Handle file : {data_.get(), list_.get()}) {
      if (const std::error_code failure = os::set_size(file, 0))
        throw base::system_error(failure, "cannot write", target());
    }
    note(head);
  }
  list_head_ = head.size();
  if (room == Room::sparse) os::allow_holes(data_);
  const bool is_reserved = room == Room::whole && size != 0;
  const std::error_code full = !is_reserved ? std::error_code() : os::set_aside(data_, 0, size, os::FileSize::grows);
  // Copies may share blocks, and then need less room.
  if (os::reason_of(full) == os::Reason::disk_full && !os::can_share_blocks(data_))
    throw base::system_error(full, "no room for", target());
}

std::filesystem::path PartFile::path() const { return target_.folder->path() / os::path_of(name_of(data_suffix)); }

/// True if the file still has this name, and not by a link.
bool PartFile::has_name(os::Handle file, const std::string& suffix) const {
  std::error_code failed;
  const os::FileStatus named = os::status_in(target_.folder->handle(), os::path_of(name_of(suffix)), failed);
  return !failed && named.kind == os::FileKind::regular && named.identity == os::status_of(file, failed).identity;
}

/// Takes over the ranges that an earlier object listed, if the first line is `head`.
void PartFile::read_list(const std::string& head) {
  std::error_code failed;
  const std::uint64_t length = os::status_of(list_, failed).size;
  constexpr std::uint64_t most = 64U << 20U;  // bytes; a list that no download writes takes no memory
  if (failed || length < head.size() || length > most) return;
  std::string text(base::in_memory(length), '\0');
  const auto room = std::as_writable_bytes(std::span(text));
  if (os::read_fully_at(list_, room, 0, failed) != length || !text.starts_with(head)) return;
  list_end_ = head.size();
  for (std::size_t at = head.size(), end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    base::ByteRange range;
    const char* const line_end = text.data() + end;
    const auto [blank, no_offset] = std::from_chars(text.data() + at, line_end, range.offset);
    if (no_offset != std::errc() || blank == line_end || *blank != ' ') break;  // of a line that a failure tore
    const auto [next, no_length] = std::from_chars(blank + 1, line_end, range.length);
    if (no_length != std::errc() || next != line_end) break;
    if (base::in_range(range.offset, range.length, size_)) ranges_.add(range);
    list_end_ = end + 1;
  }
}

void PartFile::note(const std::string& line) {
  write_fully(list_, list_end_, as_bytes(line), target());
  list_end_ += line.size();
}

void PartFile::write(std::uint64_t offset, Bytes bytes) const {
  write_fully(data_, offset, bytes, target());
  if (bytes.size() >= written_back_at_once) begin_to_sync({offset, bytes.size()});
}

void PartFile::begin_to_sync(const base::ByteRange& range) const noexcept {
  if (sync_ == base::Sync::full) os::start_writeback(data_, range.offset, range.length);
}

std::vector<base::ByteRange> PartFile::receive(std::uint64_t offset, Bytes bytes) {
  std::vector<base::ByteRange> missing = ranges_.missing_in({offset, bytes.size()});
  for (const base::ByteRange& range : missing) {
    write(range.offset, base::section(bytes, range.offset - offset, range.length));
    ranges_.add(range);
    unlisted_.add(range);
  }
  if (unlisted_.bytes() >= piece_size) list();
  return missing;
}

void PartFile::list() {
  std::string lines;
  for (const base::ByteRange& range : unlisted_.ranges()) {
    lines += concat(range.offset, " ", range.length, "\n");
    begin_to_sync(range);
  }
  note(lines);
  unlisted_ = {};
}

void PartFile::note_copy(const base::ByteRange& range) {
  ranges_.add(range);
  copied_.add(range);
}

void PartFile::forget_copies() {
  base::RangeSet received;
  for (const base::ByteRange& range : ranges_.ranges()) {
    for (const base::ByteRange& part : copied_.missing_in(range)) received.add(part);
  }
  list_end_ = list_head_;
  if (const std::error_code failed = os::set_size(list_, list_end_))
    throw base::system_error(failed, "cannot write", target());
  ranges_ = unlisted_ = received;
  copied_ = {};
  list();
}

void PartFile::set_size(std::uint64_t size) const {
  if (const std::error_code failed = os::set_size(data_, size))
    throw base::system_error(failed, "cannot write", target());
}

/// Gives the complete file the permissions of the file that it replaces, or of a new file.
std::error_code PartFile::set_mode(base::Existing existing) const {
  const base::FolderHandle folder = target_.folder->handle();
  const std::filesystem::path to = os::path_of(target_.name);
  std::error_code failed;
  if (existing == base::Existing::replace && os::status_in(folder, to, failed).kind == os::FileKind::regular)
    return os::keep_mode(data_, folder, to);
  base::OutputName other(target_);
  return os::take_mode(data_, other.create());
}

void PartFile::publish(base::Existing existing, os::File lock) {
  const base::FolderHandle folder = target_.folder->handle();
  const std::filesystem::path to = os::path_of(target_.name);
  std::error_code failed = sync_ == base::Sync::full ? os::sync(data_) : os::hand_over(data_);
  // After the sync, which takes long: an interrupted download must still be one that only this user may write to.
  if (!failed) failed = set_mode(existing);
  if (!failed && sync_ == base::Sync::full) failed = os::sync(data_);
  if (existing == base::Existing::replace) base::renew_lock(lock, target());
  // The rename is by name, and must not publish another process's download.
  if (!has_name(data_, data_suffix)) {
    throw Error(Code::io_changed, "was removed or replaced during the download; try again", {}, path());
  }
  if (!failed) {
    const std::filesystem::path from = os::path_of(name_of(data_suffix));
    failed = existing == base::Existing::replace ? os::rename_over(folder, from, to)
                                                 : os::rename_to_free_name(folder, from, folder, to);
  }
  if (os::reason_of(failed) == os::Reason::exists) throw base::already_exists(target());
  if (failed) throw base::system_error(failed, "cannot write", target());
  list_ = os::File();
  target_.folder->remove_file(name_of(list_suffix));
  if (sync_ == base::Sync::full) {
    existing == base::Existing::replace ? target_.folder->sync_replaced() : target_.folder->sync();
  }
}

void PartFile::discard() noexcept {
  try {
    // While the lock is held: without it, the names may be those of another process's download.
    if (has_name(data_, data_suffix)) {
      for (const char* const suffix : {list_suffix, data_suffix}) target_.folder->remove_file(name_of(suffix));
    }
  } catch (const std::exception&) {
    list_ = os::File();  // the files stay: the next download forgets what it cannot use
  }
  list_ = os::File();
  data_ = os::File();
}

}  // namespace onnxar
