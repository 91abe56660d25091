// Reads and checks the directory of an archive, and reads entries when they are used.
#include "archive/access.h"

#include <algorithm>
#include <string>
#include <utility>

#include "archive/keys.h"
#include "base/text.h"
#include "zip/directory.h"

namespace onnxar {
namespace {

static_assert(OpenOptions().max_entries == zip::Limits().entries);
static_assert(OpenOptions().max_directory_size == zip::Limits().directory_size);

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
  const std::uint64_t limit = std::min(options.max_model_size, model_size_maximum);
  if (entry.size > limit) {
    throw Error(
        Code::archive_model_too_large,  // P8
        base::concat("a model of ", base::human_size(entry.size), " is over the limit of ", base::human_size(limit)),
        {std::string(entry.name), entry.central_offset});
  }
}

}  // namespace

ArchiveEntry entry_named(const Archive& archive, std::string_view name) {
  if (const auto entry = archive.find(name)) return *entry;
  throw Error(Code::usage_no_such_entry, "the archive has no such entry", {std::string(name), std::nullopt},
              archive.path());
}

Archive ArchiveAccess::open(OpenBytes bytes, const OpenOptions& options) {
  // The directory is proved before the bytes are prefetched: a file that is refused should not be read.
  zip::Directory directory = read_directory(bytes.file, options, bytes.zeros);
  const std::size_t model = directory.entries().size() - 1;
  using Opened = Archive::Parts::Opened;
  auto opened = std::make_shared<Opened>(Opened{std::move(bytes), std::move(directory)});
  Archive archive(detail::own<Archive::Parts>(std::move(opened), model));
  archive.prefetch(archive.file(), options.prefetch);
  return archive;
}

Bytes ArchiveAccess::place(const Archive& archive, const ArchiveEntry& entry) {
  if (file(archive).is_here()) return archive.bytes(entry);
  archive.check_own(entry);
  return reader(archive).place(entry.index);
}

Bytes ArchiveAccess::part(const Archive& archive, const ArchiveEntry& entry, Bytes place) {
  if (file(archive).is_here()) return place;
  const Bytes whole = ArchiveAccess::place(archive, entry);
  return archive.part_at(entry.index, static_cast<std::uint64_t>(place.data() - whole.data()), place.size());
}

zip::Directory read_directory(const ArchiveFile& file, const OpenOptions& options, zip::KnownZeros* zeros) {
  const zip::Limits limits{options.max_entries, options.max_directory_size};
  zip::Directory directory = zip::Directory::read(file.bytes(), limits, file.needs(), zeros);
  // In the order of spec/checking.md, steps 41 to 44.
  check_model(directory, options);
  check_reserved_names(directory);
  return directory;
}

}  // namespace onnxar
