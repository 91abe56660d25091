// Reads the central directory of a foreign zip, and the data of its entries.
#include "zip/foreign_directory.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_range.h"
#include "base/checked.h"
#include "base/crc32.h"
#include "base/file_origin.h"
#include "base/kept.h"
#include "base/little_endian.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "zip/directory.h"
#include "zip/format.h"
#include "zip/inflate_source.h"
#include "zip/names.h"
#include "zip/shared_checks.h"

namespace onnxar::zip {
namespace {

using base::concat;
using base::hex;

void check_overlap(const ForeignEntry& before, const ForeignEntry& entry) {
  if (before.end <= entry.header_offset) return;  // F1: bytes between entries are read over
  throw Error(Code::zip_entry_overlap,            // F14
              concat("the entry ends at ", hex(before.end), ", after the start of the next entry ",
                     base::quoted(entry.name), " at ", hex(entry.header_offset)),
              {std::string(before.name), before.header_offset});
}

/// True if the file keeps the rules of an archive's zip: only a state before an edit lies between entries.
bool is_strict(Bytes file, const Limits& limits) {
  try {
    const Directory directory = Directory::read(file, limits);
    for (std::size_t i = 0; i < directory.entries().size(); ++i) static_cast<void>(directory.prove_local(file, i));
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

ForeignDirectory ForeignDirectory::read(Bytes file, const Limits& limits) {
  const EndOfZip found = find_end(file);
  check_limits(found.end, limits);
  ForeignDirectory directory;
  directory.offset_ = found.end.directory_offset;
  directory.read_headers(file, found.end, limits.any_names);
  directory.read_local_headers(file);
  directory.check_rivals(file, found.rivals, limits);
  directory.check_front(file);
  if (!limits.any_names) directory.index_files();
  return directory;
}

void ForeignDirectory::read_headers(Bytes file, const EndOfArchive& end, bool any_names) {
  bytes_ = std::make_unique_for_overwrite<std::byte[]>(base::in_memory(end.directory_size));
  std::memcpy(bytes_.get(), file.data() + offset_, base::in_memory(end.directory_size));
  Bytes rest(bytes_.get(), base::in_memory(end.directory_size));
  entries_.reserve(base::in_memory(end.entries));
  while (entries_.size() < end.entries) {
    const ForeignHeader header = read_foreign_central(rest, end.directory_end() - rest.size(), any_names);
    entries_.push_back(header.entry);
    rest = base::section(rest, header.length);
  }
  check_directory_end(rest, end.entries, end.directory_end() - rest.size());
  // F2: the directory may list entries in any order; overlaps are found in the order of the file.
  std::ranges::sort(entries_, {}, [](const ForeignEntry& e) { return std::pair(e.header_offset, e.central_offset); });
}

/// Reads local headers in file order, and stops at the first two entries that overlap. Otherwise a small file with a
/// million entries could make this read the same long header a million times.
void ForeignDirectory::read_local_headers(Bytes file) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    read_foreign_local(file, offset_, entries_[i]);
    if (i != 0) check_overlap(entries_[i - 1], entries_[i]);
  }
}

/// Refuses records before the first entry: readers that scan the file from its front take them for the zip's own.
void ForeignDirectory::check_front(Bytes file) const {
  constexpr auto size = sizeof local_file_signature;
  const Bytes front = file.first(base::in_memory(entries_.front().header_offset));
  for (std::size_t at = 0; at + size <= front.size(); ++at) {
    const auto signature = base::load<std::uint32_t>(front, at);
    if (signature == local_file_signature) {  // F13
      throw Error(Code::zip_entry_unlisted,
                  concat("a local header precedes the first entry, ", base::quoted(entries_.front().name),
                         ", and the directory does not list it: readers that begin at the front of the file see an "
                         "entry that others do not; write the zip again"),
                  {"", at});
    }
    if (signature == end_signature || signature == zip64_end_signature) {  // F11
      throw Error(
          Code::zip_end_ambiguous,
          concat("the signature of an end record precedes the first entry, ", base::quoted(entries_.front().name),
                 ": readers that begin at the front of the file see a zip without entries; write the zip "
                 "again"),
          {"", at});
    }
  }
}

/// Refuses end records that some readers could use instead. One inside an entry's data is allowed: every zip that
/// stores another zip as its last entry has it. So is one inside the data of a model that an edit superseded.
void ForeignDirectory::check_rivals(Bytes file, std::span<const std::uint64_t> rivals, const Limits& limits) const {
  for (const std::uint64_t rival : rivals) {
    const auto next = std::ranges::upper_bound(entries_, rival, {}, &ForeignEntry::data_offset);
    const bool in_data = next != entries_.begin() && rival < std::prev(next)->end;
    if (in_data || is_strict(file, limits)) continue;
    throw Error(Code::zip_end_ambiguous,  // F10
                "this is a second end record, and readers disagree on which of the two counts; write the zip "
                "again without an archive comment",
                {"", rival});
  }
}

void ForeignDirectory::index_files() {
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].folder) files_.push_back(i);
  }
  index_ = index_of_names(  // F21
      files_.size(), [this](std::uint32_t i) { return entries_[files_[i]].name; },
      [this](std::uint32_t i) { return entries_[files_[i]].central_offset; });
  check_folders();
  check_omissions();
}

/// F8: folders are not in the index, because equal folders are harmless. A file with the name of a folder is not.
void ForeignDirectory::check_folders() const {
  const auto name_of = [this](std::uint32_t i) { return entries_[files_[i]].name; };
  for (const ForeignEntry& entry : entries_) {
    if (!entry.folder) continue;
    const auto file = index_.find_folder_of(entry.name, name_of);
    if (!file) continue;
    throw Error(Code::zip_name_prefix,  // F21
                concat("the entry ", base::quoted(name_of(*file)), " is a file, and this folder has the same path"),
                {std::string(entry.name), entry.central_offset});
  }
}

/// Refuses names that become equal when readers drop parts of them. Only names that archives must not have are
/// affected, so nearly all zips are accepted before an index is built.
void ForeignDirectory::check_omissions() const {
  const auto name_of_file = [this](std::uint32_t i) { return entries_[files_[i]].name; };
  const auto is_portable = [this](std::uint32_t i) { return !name_fault(entries_[i].name); };
  if (std::ranges::all_of(files_, is_portable)) return;
  std::vector<std::string> kept(files_.size());
  NameIndex index(files_.size());
  for (std::uint32_t i = 0; i < files_.size(); ++i) {
    kept[i] = name_without_omissions(name_of_file(i));
    const auto clash = index.insert(i, [&kept](std::uint32_t k) { return std::string_view(kept[k]); });
    if (!clash) continue;
    throw Error(Code::zip_name_duplicate,  // F22
                concat("some readers do not distinguish this name from ", base::quoted(name_of_file(*clash)),
                       ": they leave out `c:` at the start, `;1` at the end, or dots and spaces at the end of "
                       "a part; write the zip again with other names"),
                {std::string(name_of_file(i)), entries_[files_[i]].central_offset});
  }
}

std::optional<std::size_t> ForeignDirectory::find(std::string_view name) const noexcept {
  const auto found = index_.find(name, [this](std::uint32_t i) { return entries_[files_[i]].name; });
  if (!found) return std::nullopt;
  return files_[*found];
}

std::unique_ptr<const ByteSource> data_source(base::Kept<Bytes> file, const ForeignEntry& entry,
                                              const base::FileOrigin* origin) {
  const Bytes stored = base::section(file, entry.data_offset, entry.stored_size);
  if (!entry.deflated) return std::make_unique<base::MappedSource>(stored, origin);
  return std::make_unique<InflateSource>(stored, entry.size, Place{std::string(entry.name), entry.data_offset});
}

void read_verified(Bytes file, const ForeignEntry& entry, const ByteSink& sink) {
  std::uint32_t crc = 0;
  data_source(file, entry)->read([&](Bytes piece) {
    crc = base::crc32(crc, piece);
    sink(piece);
  });
  expect_crc(entry, crc);
}

void expect_crc(const ForeignEntry& entry, std::uint32_t crc) {
  if (crc == entry.crc32) return;
  throw crc_fault({std::string(entry.name), entry.data_offset}, "the zip", entry.crc32, crc);  // F34
}

}  // namespace onnxar::zip
