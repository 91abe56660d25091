// Reads parts of entries, and verifies each whole entry once.
#include "archive/sliced_entries.h"

#include "archive/access.h"
#include "archive/entry_source.h"
#include "base/kept.h"
#include "base/paths.h"
#include "zip/format.h"

namespace onnxar {
namespace {

/// Hands out a part of an entry, after verifying the entry. Reading throws zip.data.crc.
class SliceSource final : public ByteSource {
 public:
  SliceSource(std::shared_ptr<const SlicedEntry> entry, base::Kept<Bytes> part)
      : entry_(std::move(entry)), part_(part) {}
  [[nodiscard]] std::uint64_t size() const override { return part_.size(); }
  void read(const ByteSink& sink) const override { sink(entry_->verified(part_)); }
  void locate(const std::function<void(const Location&)>& visit) const override { entry_->locate(part_, visit); }

 private:
  std::shared_ptr<const SlicedEntry> entry_;
  Bytes part_;
};

}  // namespace

std::shared_ptr<Spool> SlicedEntries::spool_for(const Archive& archive) {
  if (!spool_) {
    // Entries do not overlap, so copies of all of them need at most the size of the file plus their alignment.
    const std::uint64_t room = archive.file().size() + archive.size() * zip::alignment_minimum;
    spool_ = std::make_shared<Spool>(folder_.empty() ? base::temporary_folder() : folder_, room);
  }
  return spool_;
}

std::shared_ptr<const ByteSource> SlicedEntries::source(base::Kept<const Archive> archive, const ArchiveEntry& entry,
                                                        Bytes part) {
  std::shared_ptr<const SlicedEntry>& sliced = entries_[entry.index];
  if (!sliced) {
    EntrySource whole(archive, entry);
    auto spool = whole.may_change() ? spool_for(archive) : nullptr;
    const Bytes place = ArchiveAccess::place(archive, entry);
    sliced = std::make_shared<const SlicedEntry>(std::move(whole), entry, place, std::move(spool));
  }
  return std::make_shared<SliceSource>(sliced, part);
}

}  // namespace onnxar
