// Finds the entries of an open archive, and locates, reads and verifies their bytes.
#include "onnxar/archive.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/entry_source.h"
#include "archive/evidence.h"
#include "archive/graphs.h"
#include "archive/keys.h"
#include "archive/local_entry.h"
#include "archive/opening.h"
#include "base/annotated.h"
#include "base/byte_range.h"
#include "base/ranged_memory.h"
#include "base/sources.h"
#include "base/text.h"
#include "zip/directory.h"
#include "zip/format.h"
#include "zip/records.h"

namespace onnxar {
namespace {

/// Returns true if all bytes from `offset` on are in memory. Reads them first if they are not.
bool has_read_from(const Archive& archive, std::uint64_t offset) noexcept {
  try {
    ArchiveAccess::file(archive).need({offset, archive.file().size() - offset});
    return true;
  } catch (...) {  // the caller's RandomAccess may throw any type
    return false;
  }
}

/// Lists the names that the user could have meant.
std::string names_in(const Archive& archive, const std::optional<std::string>& model) {
  constexpr std::size_t most = 10;
  std::string text = model ? base::concat(base::quoted(*model), " (the model)") : "the model";
  const std::vector<ArchiveEntry> graphs = archive.graphs();
  for (std::size_t i = 0; i < std::min(graphs.size(), most); ++i) {
    text += base::concat(", ", base::quoted(stem_of_graph(graphs[i].name)));
  }
  if (graphs.size() > most) text += base::concat(" and ", graphs.size() - most, " more");
  return text;
}

}  // namespace

Archive::Archive(detail::Owned<Parts> parts) noexcept : parts_(std::move(parts)) {}

Archive Archive::open(const std::filesystem::path& path, const OpenOptions& options) {
  return open_path(path, options);
}

Archive Archive::open(const DescriptorRange& range, const OpenOptions& options) {
  return open_range(os::handle_of(range.descriptor), {range.offset, range.length}, options);
}

Archive Archive::open(Bytes bytes, std::shared_ptr<const void> owner, const OpenOptions& options) {
  const ArchiveFile file(bytes);
  // The owner is copied, so that the bytes are still there when an error is explained.
  return base::annotated(Evidence{.file = file},
                         [&] { return ArchiveAccess::open({.file = file, .owner = owner}, options); });
}

Archive Archive::open(std::shared_ptr<const RandomAccess> file, const OpenOptions& options) {
  if (!file) throw Error(Code::usage_argument, "`file` is null; pass a file that can be read in ranges");
  const std::filesystem::path path = file->name();
  const auto reserve = [&] { return std::make_shared<const base::RangedMemory>(std::move(file)); };
  const auto memory = base::annotated(path, reserve);
  const Evidence evidence{.path = &path, .file = ArchiveFile(*memory)};
  return base::annotated(evidence, [&] {
    return ArchiveAccess::open({.file = ArchiveFile(*memory), .owner = memory, .path = path}, options);
  });
}

std::size_t Archive::size() const noexcept { return parts_->opened->directory.entries().size(); }

ArchiveEntry Archive::entry(std::size_t index) const& noexcept {
  const zip::DirectoryEntry& entry = parts_->opened->directory.entries()[index];
  return {index, entry.name, entry.size, entry.header_offset, entry.crc32};
}

ArchiveEntry detail::EntryIterator::operator*() const noexcept {
  return archive_->entry(static_cast<std::size_t>(index_));
}

std::optional<ArchiveEntry> Archive::find(std::string_view name) const& noexcept {
  const auto index = parts_->opened->directory.find(name);
  if (!index) return std::nullopt;
  return entry(*index);
}

EntryLocation Archive::locate(const ArchiveEntry& entry) const {
  check_own(entry);
  const zip::LocalEntry local = local_entry(*this, entry.index);
  return {local.data_offset, local.alignment};
}

/// Refuses entries of other archives, whose offsets would be wrong here. Names are views of the directory's memory, so
/// their address identifies the archive of an entry.
void Archive::check_own(const ArchiveEntry& entry) const {
  const auto entries = parts_->opened->directory.entries();
  if (entry.index < entries.size()) {
    const zip::DirectoryEntry& own = entries[entry.index];
    const bool same_name = own.name.data() == entry.name.data() && own.name.size() == entry.name.size();
    if (same_name && own.size == entry.size && own.header_offset == entry.header_offset && own.crc32 == entry.crc32) {
      return;
    }
  }
  throw Error(
      Code::usage_foreign_entry,
      base::concat("entry ", entry.index, " does not belong to this archive; pass an entry that this archive returned"),
      {}, parts_->opened->path);
}

Bytes Archive::bytes(const ArchiveEntry& entry) const& {
  check_own(entry);
  return bytes_at(entry.index);
}

Bytes Archive::bytes_at(std::size_t index) const {
  return part_at(index, 0, parts_->opened->directory.entries()[index].size);
}

/// REQUIRES: the part lies in the entry.
Bytes Archive::part_at(std::size_t index, std::uint64_t offset, std::uint64_t length) const {
  return base::annotated(evidence_of(*this),
                         [&] { return ArchiveAccess::reader(*this).read(index, {offset, length}); });
}

void Archive::prefetch(const ArchiveEntry& entry, Prefetch how) const { prefetch({&entry, 1}, how); }

void Archive::prefetch(std::span<const ArchiveEntry> entries, Prefetch how) const {
  std::vector<std::size_t> indices;
  for (const ArchiveEntry& entry : entries) {
    check_own(entry);
    indices.push_back(entry.index);
  }
  base::annotated(evidence_of(*this), [&] { ArchiveAccess::reader(*this).prefetch(indices, how); });
}

void Archive::prefetch(Bytes bytes, Prefetch how) const {
  // As integers, because comparing pointers into different objects is undefined. A wrapped difference is out of range.
  const auto at = [](const std::byte* place) { return reinterpret_cast<std::uintptr_t>(place); };
  const Bytes file = this->file();
  if (!bytes.empty() && !base::in_range(at(bytes.data()) - at(file.data()), bytes.size(), file.size())) {
    throw Error(Code::usage_argument, "the bytes to prefetch are not in this archive", {}, parts_->opened->path);
  }
  base::annotated(path(), [&] { parts_->opened->file.prefetch(bytes, how); });
}

void Archive::copy(const ArchiveEntry& entry, const ByteSink& sink) const {
  base::check_sink(sink);
  EntrySource(*this, entry).copy(sink);
}

void Archive::verify(const ArchiveEntry& entry) const { EntrySource(*this, entry).verify(); }

std::vector<ArchiveEntry> Archive::graphs() const& {
  std::vector<ArchiveEntry> found;
  for (const ArchiveEntry& entry : entries()) {
    if (is_graph_name(entry.name)) found.push_back(entry);
  }
  return found;
}

ArchiveEntry Archive::model_entry() const& noexcept { return entry(parts_->model); }

Bytes Archive::model() const& { return bytes_at(parts_->model); }

Archive Archive::graph(std::string_view name) const {
  if (const auto entry = find_graph(*this, name)) return ArchiveAccess::view(*this, *entry);
  throw Error(Code::usage_no_such_entry,
              base::concat("the archive has no graph of this name; it has ", names_in(*this, name_of_model(*this))),
              {std::string(name), std::nullopt}, path());
}

Bytes Archive::resolve(std::string_view location, std::uint64_t offset, std::optional<std::uint64_t> length) const& {
  const auto found = find(location);
  if (!found) {  // M9
    throw Error(Code::onnx_external_missing, base::concat("the archive has no entry ", base::quoted(location)),
                {std::string(location), std::nullopt}, parts_->opened->path);
  }
  const auto within = base::length_within(offset, length, found->size);
  if (!within) {                        // M13
    static_cast<void>(locate(*found));  // a fault of the entry is reported first
    throw Error(Code::onnx_external_out_of_range, base::range_fault(offset, length, "the entry", found->size),
                {std::string(location), found->header_offset}, parts_->opened->path);
  }
  return part_at(found->index, offset, *within);
}

const std::shared_ptr<const void>& Archive::owner() const& noexcept { return parts_->opened->owner; }
Bytes Archive::file() const& noexcept { return parts_->opened->file.bytes(); }
const std::filesystem::path& Archive::path() const& noexcept { return parts_->opened->path; }

void read_entry(const Archive& archive, const ArchiveEntry& entry, std::span<std::byte> buffer) {
  if (buffer.size() != entry.size) {
    throw Error(Code::usage_argument,
                base::concat("the entry has ", entry.size, " bytes, but the buffer has ", buffer.size()),
                {std::string(entry.name), std::nullopt}, archive.path());
  }
  EntrySource(archive, entry).copy_to(buffer);
}

void cat(const std::filesystem::path& path, std::string_view entry_name, const ByteSink& sink) {
  base::check_sink(sink);
  const Archive archive = Archive::open(path);
  archive.copy(entry_named(archive, entry_name), sink);
}

bool is_archive(const std::filesystem::path& path) {
  try {
    static_cast<void>(Archive::open(path));
    return true;
  } catch (const Error& error) {
    if (kind(error.code()) == Kind::format) return false;
    throw;
  }
}

bool same_state(const Archive& a, const Archive& b) noexcept {
  if (a.file().size() != b.file().size()) return false;  // first: the file may have been shortened under the mapping
  const std::uint64_t model = a.entry(a.size() - 1).header_offset;
  if (!has_read_from(a, model) || !has_read_from(b, model)) return false;
  return std::ranges::equal(base::section(a.file(), model), base::section(b.file(), model));
}

// Checks both ends: a truncated zip file has only its front, and one with a prefix has only its end.
bool looks_like_zip(Bytes bytes) noexcept {
  const Bytes end = bytes.last(std::min<std::size_t>(bytes.size(), zip::end_record_size));
  return zip::begins_with_record(bytes) || zip::parse_end_record(end).has_value();
}

}  // namespace onnxar
