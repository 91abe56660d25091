// Writes a file that is being downloaded, and the list of the pieces that it already has.
#include "remote/part_file.h"

#include <algorithm>
#include <charconv>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/open_file.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "os/error.h"
#include "os/folder.h"
#include "os/names.h"

namespace onnxar {
namespace {

using base::concat;

constexpr std::uint64_t most_between = 32U << 10U;  // unneeded bytes that are read to save a request
constexpr std::size_t most_in_one = 100;            // ranges in a request; servers limit them and the length of a line
constexpr const char* data_suffix = ".part";
constexpr const char* list_suffix = ".part.list";

std::uint64_t length_of_piece(std::uint64_t piece, std::uint64_t size) {
  const std::uint64_t begin = piece * piece_size;
  return begin < size ? std::min(piece_size, size - begin) : 0;
}

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

std::vector<base::ByteRange> pieces_of(std::span<const RangeTarget> targets, std::uint64_t end) {
  std::vector<base::ByteRange> joined;
  for (const RangeTarget& target : targets) {
    if (target.target.empty() || target.offset >= end) continue;
    const std::uint64_t length = std::min<std::uint64_t>(target.target.size(), end - target.offset);
    if (!joined.empty() && target.offset - joined.back().end() <= most_between) {
      joined.back().length = target.offset + length - joined.back().offset;
    } else {
      joined.push_back({target.offset, length});
    }
  }
  std::vector<base::ByteRange> pieces;
  for (base::ByteRange range : joined) {
    while (range.length > piece_size + piece_size / 2) {
      pieces.push_back({range.offset, piece_size});
      range = {range.offset + piece_size, range.length - piece_size};
    }
    pieces.push_back(range);
  }
  return pieces;
}

std::vector<std::vector<base::ByteRange>> bundles_of(std::span<const base::ByteRange> pieces) {
  std::vector<std::vector<base::ByteRange>> bundles;
  std::uint64_t bytes = 0;
  for (const base::ByteRange& piece : pieces) {
    const bool fits = !bundles.empty() && bundles.back().size() < most_in_one && bytes <= piece_size &&
                      piece.length <= piece_size - bytes;
    if (!fits) {
      bundles.emplace_back();
      bytes = 0;
    }
    bundles.back().push_back(piece);
    bytes += piece.length;
  }
  return bundles;
}

PartFile::PartFile(base::OutputTarget place, const std::string& version, std::uint64_t size)
    : target_(std::move(place)), size_(size), data_(target_.folder->open_own(name_of(data_suffix))) {
  std::error_code failed;
  // A process that had the lock until now may have given the file its name: then this process must not write it.
  if (os::try_lock(data_, os::Lock::exclusive, failed) == os::Locking::busy || !has_name(data_, data_suffix)) {
    throw Error(Code::archive_busy, "another process downloads to the same output", {}, target_.path);
  }
  list_ = target_.folder->open_own(name_of(list_suffix));
  const std::string head = concat("onnxar part 1 ", size, " ", piece_size, " ", version, "\n");
  // The list of a file that was published or removed may be left.
  if (!version.empty() && os::status_of(data_, failed).size == size) read_list(head);
  if (list_end_ == 0) {
    for (const os::Handle file : {data_.get(), list_.get()}) {
      if (const std::error_code failure = os::set_size(file, 0))
        throw base::system_error(failure, "cannot write", target());
    }
    note(head);
  }
  const std::error_code full = size == 0 ? std::error_code() : os::set_aside(data_, 0, size, os::FileSize::grows);
  if (os::reason_of(full) == os::Reason::disk_full) throw base::system_error(full, "no room for", target());
}

/// True if the file still has this name, and not by a link.
bool PartFile::has_name(os::Handle file, const std::string& suffix) const {
  std::error_code failed;
  const os::FileStatus named = os::status_in(target_.folder->handle(), os::path_of(name_of(suffix)), failed);
  return !failed && named.kind == os::FileKind::regular && named.identity == os::status_of(file, failed).identity;
}

/// Takes over the pieces that an earlier object listed, if the first line is `head`.
void PartFile::read_list(const std::string& head) {
  std::error_code failed;
  const std::uint64_t length = os::status_of(list_, failed).size;
  constexpr std::uint64_t line = 16;
  const std::uint64_t most = head.size() + (size_ / piece_size + 1) * line;
  if (failed || length < head.size() || length > most) return;
  std::string text(base::in_memory(length), '\0');
  const auto room = std::as_writable_bytes(std::span(text));
  if (os::read_fully_at(list_, room, 0, failed) != length || !text.starts_with(head)) return;
  list_end_ = head.size();
  for (std::size_t at = head.size(), end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    std::uint64_t piece = 0;
    const auto [next, wrong] = std::from_chars(text.data() + at, text.data() + end, piece);
    if (wrong != std::errc() || next != text.data() + end) break;  // the rest of a line that a failure tore
    if (length_of_piece(piece, size_) != 0 && pieces_.insert(piece).second) bytes_ += length_of_piece(piece, size_);
    list_end_ = end + 1;
  }
}

void PartFile::note(const std::string& line) {
  write_fully(list_, list_end_, as_bytes(line), target());
  list_end_ += line.size();
}

void PartFile::write(std::uint64_t offset, Bytes bytes) const { write_fully(data_, offset, bytes, target()); }

void PartFile::complete(std::uint64_t piece) {
  note(concat(piece, "\n"));
  if (pieces_.insert(piece).second) bytes_ += length_of_piece(piece, size_);
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

void PartFile::publish(base::Existing existing, base::Sync sync, os::File lock) {
  const base::FolderHandle folder = target_.folder->handle();
  const std::filesystem::path to = os::path_of(target_.name);
  std::error_code failed = sync == base::Sync::full ? os::sync(data_) : os::hand_over(data_);
  // After the sync, which takes long: an interrupted download must still be one that only this user may write to.
  if (!failed) failed = set_mode(existing);
  if (!failed && sync == base::Sync::full) failed = os::sync(data_);
  if (existing == base::Existing::replace) base::renew_lock(lock, target());
  // The rename is by name, and must not publish another process's download.
  if (!has_name(data_, data_suffix)) {
    throw Error(Code::io_changed, "was removed or replaced during the download; try again", {},
                target_.folder->path() / os::path_of(name_of(data_suffix)));
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
  if (sync == base::Sync::full) {
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
