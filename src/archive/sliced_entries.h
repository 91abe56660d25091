// Makes sources for parts of entries that verify each whole entry once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "archive/entry_source.h"
#include "archive/foreign_zip.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// An entry of which parts are read, by any thread. The whole entry is verified once. If it may change, it is copied to
/// the spool, because a copy in memory could be as large as the file.
class SlicedEntry {
 public:
  /// `spool` has room for the entry; it is null only if the entry may not change.
  SlicedEntry(EntrySource whole, const ArchiveEntry& entry, Bytes bytes, std::shared_ptr<Spool> spool)
      : whole_(std::move(whole)), header_offset_(entry.header_offset), bytes_(bytes), spool_(std::move(spool)) {}
  /// Returns `part` of the verified entry, in the mapping or in the spool. Errors: zip.data.crc, io.changed; io.* when
  /// copying.
  [[nodiscard]] Bytes verified(Bytes part) const {
    verify_once();
    return copy_.subspan(static_cast<std::size_t>(part.data() - bytes_.data()), part.size());
  }
  /// Visits the location of `part`, unless the entry may change.
  void locate(Bytes part, const std::function<void(const Location&)>& visit) const {
    whole_.locate([&](Location run) {
      run.bytes = part;
      visit(run);
    });
  }

 private:
  void verify_once() const {
    const std::scoped_lock lock(mutex_);
    if (verified_) return;
    if (spool_) {
      static_cast<void>(spool_->place_of(header_offset_, bytes_.size()));
      copy_ = spool_->bytes(header_offset_, [this](const ByteSink& sink) { whole_.copy(sink); });
    } else {
      copy_ = whole_.verified();
    }
    verified_ = true;
  }

  EntrySource whole_;
  std::uint64_t header_offset_;
  Bytes bytes_;
  std::shared_ptr<Spool> spool_;
  // A std::once_flag would do, but after an exception some systems' C libraries, that of Windows among them, hang.
  mutable std::mutex mutex_;
  mutable bool verified_ = false;
  mutable Bytes copy_;
};

/// Makes sources for parts of the entries of one archive, which must outlive them. Not synchronised, but the sources
/// may be read by any thread.
class SlicedEntries {
 public:
  /// Copies go to a nameless file in `folder` (empty: the system's folder for temporary files).
  explicit SlicedEntries(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}
  /// Returns a source of `part`, which lies in the entry. Errors: as Archive::bytes; when read, zip.data.crc, io.*.
  [[nodiscard]] std::shared_ptr<const ByteSource> source(const Archive& archive, const ArchiveEntry& entry, Bytes part);

 private:
  std::shared_ptr<Spool> spool_for(const Archive& archive);

  std::filesystem::path folder_;
  std::map<std::size_t, std::shared_ptr<const SlicedEntry>> entries_;  // by index
  std::shared_ptr<Spool> spool_;                                       // created for the first entry that may change
};

}  // namespace onnxar
