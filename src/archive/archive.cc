#include "onnxar/archive.h"

#include <algorithm>
#include <utility>

#include "archive/access.h"
#include "archive/aligned_copies.h"
#include "archive/changed.h"
#include "archive/entry_source.h"
#include "archive/file_kind.h"
#include "archive/foreign_faults.h"
#include "archive/keys.h"
#include "archive/opening.h"
#include "base/annotate.h"
#include "base/callables.h"
#include "base/checked.h"
#include "base/memory.h"
#include "base/ranges.h"
#include "base/text.h"
#include "zip/directory.h"
#include "zip/records.h"

namespace onnxar {

static_assert(OpenOptions().max_entries == zip::Limits().entries);
static_assert(OpenOptions().max_directory_size == zip::Limits().directory_size);

struct Archive::Parts {
  /// What all views of one opened archive share.
  struct Opened {
    Bytes file;
    std::shared_ptr<const void> owner;
    std::filesystem::path path;
    zip::Directory directory;
    const base::FileOrigin* origin = nullptr;  // lives as long as `owner`
  };

  std::shared_ptr<Opened> opened;
  std::size_t model = 0;                                                      // the index of its entry
  std::unique_ptr<AlignedCopies> copies = std::make_unique<AlignedCopies>();  // const members use it
};

namespace {

/// Adds a hint if the fault is one that zip tools usually cause: it names the verb that makes an archive of the file.
Error with_foreign_hint(const Error& error, Bytes file) {
  const bool is_no_archive = error.code() == Code::archive_model_missing || error.code() == Code::zip_end_missing;
  if (is_no_archive) return with_kind(error, file);
  if (!is_foreign_fault(error.code())) return error;
  const Advice other = advice_on_kind(file);  // not every zip holds a model
  if (other.hint != Hint::none) return base::annotate(error, {.advice = other});
  const bool is_name = is_portable_name_fault(error.code());
  return base::annotate(error, {.advice = {is_name ? Hint::pack_names_entries : Hint::repack_plain_zip}});
}

/// Completes an error at the first use of an entry: adds the path, and tells whether the file changed since it was
/// opened.
Error with_archive(const Error& error, const Archive& archive) {
  return with_change(with_foreign_hint(error, archive.file()).with_path(archive.path()), archive);
}

void check_reserved_names(const zip::Directory& directory) {
  for (const zip::DirectoryEntry& entry : directory.entries()) {
    if (entry.name != model_entry_name && is_reserved_name(entry.name)) {
      throw Error(Code::archive_name_reserved,  // N13
                  "this version does not know the meaning of this reserved name; a newer reader is needed",
                  {std::string(entry.name), entry.central_offset});
    }
  }
}

void check_model(const zip::Directory& directory, const OpenOptions& options) {
  // The checks of spec/checking.md, steps 41 to 43, which need the directory only: the model itself is not read.
  const auto model = directory.find(model_entry_name);
  const zip::DirectoryEntry& last = directory.entries().back();
  if (!model) {
    throw Error(Code::archive_model_missing,  // P6
                base::concat("no entry is named ", model_entry_name, ": this zip file holds no ONNX model"),
                {"", directory.offset()});
  }
  const zip::DirectoryEntry& entry = directory.entries()[*model];
  if (*model + 1 != directory.entries().size()) {
    throw Error(Code::archive_model_not_last,  // P7
                base::concat("the model must be the last entry, but ", base::quoted(last.name), " follows it"),
                {std::string(entry.name), entry.central_offset});
  }
  if (entry.size > options.max_model_size) {
    throw Error(Code::archive_model_too_large,  // P8
                base::concat("a model of ", base::human_size(entry.size), " is over the limit of ",
                             base::human_size(options.max_model_size)),
                {std::string(entry.name), entry.central_offset});
  }
}

zip::Directory read_directory(Bytes file, const OpenOptions& options) {
  try {
    zip::Directory directory = zip::Directory::read(file, {options.max_entries, options.max_directory_size});
    // In the order of spec/checking.md, steps 41 to 44.
    check_model(directory, options);
    check_reserved_names(directory);
    return directory;
  } catch (const Error& error) {
    throw with_foreign_hint(error, file);
  }
}

}  // namespace

Archive::Archive(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
Archive::Archive(Archive&& other) noexcept = default;
Archive& Archive::operator=(Archive&& other) noexcept = default;
Archive::~Archive() = default;

Archive Archive::open(const std::filesystem::path& path, const OpenOptions& options) {
  return open_at_rest(path, options);
}

Archive Archive::open(const DescriptorRange& range, const OpenOptions& options) {
  return open_range(os::handle_of(range.descriptor), {range.offset, range.length}, options);
}

Archive Archive::open(Bytes bytes, std::shared_ptr<const void> owner, const OpenOptions& options) {
  // The directory is proved before the bytes are prefetched: a file that is refused should not be read.
  const auto opened =
      std::make_shared<Parts::Opened>(Parts::Opened{bytes, std::move(owner), {}, read_directory(bytes, options)});
  Archive archive(std::make_unique<Parts>(Parts{opened, opened->directory.entries().size() - 1}));
  base::prefetch(bytes, options.prefetch);
  return archive;
}

std::size_t Archive::size() const noexcept { return parts_->opened->directory.entries().size(); }

ArchiveEntry Archive::entry(std::size_t index) const& noexcept {
  const zip::DirectoryEntry& entry = parts_->opened->directory.entries()[index];
  return {index, entry.name, entry.size, entry.header_offset, entry.crc32};
}

std::optional<ArchiveEntry> Archive::find(std::string_view name) const& noexcept {
  const auto index = parts_->opened->directory.find(name);
  if (!index) return std::nullopt;
  return entry(*index);
}

EntryLocation Archive::locate(const ArchiveEntry& entry) const {
  check_own(entry);
  const zip::LocalEntry local = ArchiveAccess::local(*this, entry.index);
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
      base::concat("entry ", entry.index,
                   " does not belong to this archive; pass an entry that `entry` or `find` of this Archive returned"),
      {}, parts_->opened->path);
}

Bytes Archive::bytes(const ArchiveEntry& entry) const& {
  check_own(entry);
  return bytes_at(entry.index);
}

Bytes Archive::bytes_at(std::size_t index) const {
  try {
    return base::section(parts_->opened->file, parts_->opened->directory.data_offset(parts_->opened->file, index),
                         parts_->opened->directory.entries()[index].size);
  } catch (const Error& error) {
    throw with_archive(error, *this);
  }
}

void Archive::prefetch(const ArchiveEntry& entry, Prefetch how) const { prefetch(bytes(entry), how); }

void Archive::prefetch(Bytes bytes, Prefetch how) const {
  // As integers, because comparing pointers into different objects is undefined. A wrapped difference is out of range.
  const auto at = [](const std::byte* place) { return reinterpret_cast<std::uintptr_t>(place); };
  const Bytes file = parts_->opened->file;
  if (!bytes.empty() && !base::in_range(at(bytes.data()) - at(file.data()), bytes.size(), file.size())) {
    throw Error(Code::usage_argument, "the bytes to prefetch are not in this archive", {}, parts_->opened->path);
  }
  try {
    base::prefetch(bytes, how);
  } catch (const Error& error) {
    throw error.with_path(parts_->opened->path);
  }
}

void Archive::copy(const ArchiveEntry& entry, const ByteSink& sink) const {
  base::check_callable(sink, "the ByteSink");
  EntrySource(*this, entry).copy(sink);
}

void Archive::verify(const ArchiveEntry& entry) const { EntrySource(*this, entry).verify(); }

std::vector<ArchiveEntry> Archive::graphs() const& {
  std::vector<ArchiveEntry> found;
  for (std::size_t i = 0; i + 1 < size(); ++i) {
    if (is_graph_name(entry(i).name)) found.push_back(entry(i));
  }
  return found;
}

ArchiveEntry Archive::model_entry() const& noexcept { return entry(parts_->model); }

Bytes Archive::model() const& { return bytes_at(parts_->model); }

Bytes Archive::resolve(std::string_view location, std::uint64_t offset, std::optional<std::uint64_t> length) const& {
  const auto found = find(location);
  if (!found) {  // M9
    throw Error(Code::onnx_external_missing,
                base::concat("the model refers to ", base::quoted(location), ", which is not an entry of the archive"),
                {std::string(location), std::nullopt}, parts_->opened->path);
  }
  const Bytes whole = bytes_at(found->index);
  const auto within = base::length_within(offset, length, whole.size());
  if (!within) {  // M13
    throw Error(Code::onnx_external_out_of_range, base::range_fault(offset, length, "the entry", whole.size()),
                {std::string(location), found->header_offset}, parts_->opened->path);
  }
  return base::section(whole, offset, *within);
}

const std::shared_ptr<const void>& Archive::owner() const noexcept { return parts_->opened->owner; }
Bytes Archive::file() const& noexcept { return parts_->opened->file; }
const std::filesystem::path& Archive::path() const noexcept { return parts_->opened->path; }

Archive ArchiveAccess::open(Bytes bytes, std::shared_ptr<const void> owner, const std::filesystem::path& path,
                            const OpenOptions& options, const base::FileOrigin* origin) {
  Archive archive = Archive::open(bytes, std::move(owner), options);
  archive.parts_->opened->path = path;
  archive.parts_->opened->origin = origin;
  return archive;
}

Archive ArchiveAccess::view(const Archive& archive, const ArchiveEntry& model) {
  return Archive(std::make_unique<Archive::Parts>(Archive::Parts{archive.parts_->opened, model.index}));
}

const base::FileOrigin* ArchiveAccess::origin(const Archive& archive) noexcept {
  return archive.parts_->opened->origin;
}

AlignedCopies& ArchiveAccess::copies(const Archive& archive) noexcept { return *archive.parts_->copies; }

const zip::Directory& ArchiveAccess::directory(const Archive& archive) noexcept {
  return archive.parts_->opened->directory;
}

zip::LocalEntry ArchiveAccess::local(const Archive& archive, std::size_t index) {
  try {
    return archive.parts_->opened->directory.prove_local(archive.file(), index);
  } catch (const Error& error) {
    throw with_archive(error, archive);
  }
}

void read_entry(const Archive& archive, const ArchiveEntry& entry, std::span<std::byte> buffer) {
  if (buffer.size() != entry.size) {
    throw Error(Code::usage_argument,
                base::concat("the entry has ", entry.size, " bytes, but the buffer has ", buffer.size()),
                {std::string(entry.name), std::nullopt}, archive.path());
  }
  EntrySource(archive, entry).copy_to(buffer);
}

void cat(const std::filesystem::path& path, std::string_view entry_name, const ByteSink& sink) {
  base::check_callable(sink, "the ByteSink");
  const Archive archive = Archive::open(path);
  const auto entry = archive.find(entry_name);
  if (!entry) {
    throw Error(Code::usage_no_such_entry, "the archive has no such entry", {std::string(entry_name), std::nullopt},
                path);
  }
  archive.copy(*entry, sink);
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
  return std::ranges::equal(base::section(a.file(), model), base::section(b.file(), model));
}

// Looks at both ends: a zip file that was cut has only its front, and one with a prefix only its end.
bool looks_like_zip(Bytes bytes) noexcept {
  const Bytes end = bytes.last(std::min<std::size_t>(bytes.size(), zip::end_record_size));
  return zip::begins_with_record(bytes) || zip::parse_end_record(end).has_value();
}

}  // namespace onnxar
