#include "archive/access.h"

#include <utility>

#include "archive/archive_directory.h"
#include "archive/parts.h"
#include "base/checked.h"
#include "base/errors.h"
#include "base/text.h"

namespace onnxar {
std::string oversize_text(std::string_view subject_and_verb, std::uint64_t size) {
  return base::concat(subject_and_verb, " ", base::human_size(size), ", and protobuf reads less than 2 GiB");
}

Archive ArchiveAccess::open(Bytes bytes, std::shared_ptr<const void> owner, const std::filesystem::path& path,
                            const OpenOptions& options, const base::FileOrigin* origin) {
  Archive archive = Archive::open(bytes, std::move(owner), options);
  archive.parts_->opened->path = path;
  archive.parts_->opened->origin = origin;
  return archive;
}

Archive ArchiveAccess::open_ranges(Bytes bytes, const base::RangedMemory* ranges, std::shared_ptr<const void> owner,
                                   const OpenOptions& options) {
  const auto opened = std::make_shared<Archive::Parts::Opened>(
      Archive::Parts::Opened{bytes, std::move(owner), {}, read_directory(bytes, ranges, options)});
  opened->ranges = ranges;
  return Archive(std::make_unique<Archive::Parts>(Archive::Parts{opened, opened->directory.entries().size() - 1}));
}

Archive ArchiveAccess::view(const Archive& archive, const ArchiveEntry& model) {
  return Archive(std::make_unique<Archive::Parts>(Archive::Parts{archive.parts_->opened, model.index}));
}

Archive ArchiveAccess::open_state(const Archive& archive, std::uint64_t size) {
  return open_ranges(archive.file().first(base::in_memory(size)), ranges(archive), archive.owner(), {});
}

const base::FileOrigin* ArchiveAccess::origin(const Archive& archive) noexcept {
  return archive.parts_->opened->origin;
}

AlignedCopies& ArchiveAccess::copies(const Archive& archive) noexcept { return *archive.parts_->copies; }

const zip::Directory& ArchiveAccess::directory(const Archive& archive) noexcept {
  return archive.parts_->opened->directory;
}

const base::RangedMemory* ArchiveAccess::ranges(const Archive& archive) noexcept {
  return archive.parts_->opened->ranges;
}

bool ArchiveAccess::has_read_from(const Archive& archive, std::uint64_t offset) noexcept {
  if (ranges(archive) == nullptr) return true;
  Failure failure;
  return base::attempt<bool>(failure, [&] {
    ranges(archive)->need({offset, archive.file().size() - offset});
    return true;
  });
}

Bytes ArchiveAccess::place(const Archive& archive, const ArchiveEntry& entry) {
  if (ranges(archive) == nullptr) return archive.bytes(entry);
  archive.check_own(entry);
  return base::section(archive.file(), entry_ranges(archive).likely_data_offset(entry.index), entry.size);
}

Bytes ArchiveAccess::part(const Archive& archive, const ArchiveEntry& entry, Bytes place) {
  if (ranges(archive) == nullptr) return place;
  const Bytes whole = ArchiveAccess::place(archive, entry);
  return archive.part_at(entry.index, static_cast<std::uint64_t>(place.data() - whole.data()), place.size());
}

}  // namespace onnxar
