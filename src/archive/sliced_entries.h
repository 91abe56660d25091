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
#include "archive/spool.h"
#include "base/kept.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// Reads parts of one entry, on any thread. Verifies the whole entry once. If the entry may change, copies it to the
/// spool, because a copy in memory could be as large as the file.
class SlicedEntry {
 public:
  /// `spool` must have room for the entry; it may be null only if the entry cannot change.
  SlicedEntry(EntrySource whole, const ArchiveEntry& entry, base::Kept<Bytes> bytes, std::shared_ptr<Spool> spool)
      : whole_(std::move(whole)), header_offset_(entry.header_offset), bytes_(bytes), spool_(std::move(spool)) {}
  /// Returns `part` of the verified entry, in the mapping or in the spool. Throws zip.data.crc and io.changed; copying
  /// throws io.*.
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
  // Not a std::once_flag, because some C libraries, for example on Windows, hang after an exception.
  mutable std::mutex mutex_;
  mutable bool verified_ = false;
  mutable Bytes copy_;
};

/// Makes sources for parts of the entries of one archive. Not synchronised, but the sources may be read by any thread.
class SlicedEntries {
 public:
  /// Copies entries to a nameless file in `folder` (empty: the system's folder for temporary files).
  explicit SlicedEntries(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}
  /// Returns a source of `part`, which lies in the entry. Throws what Archive::bytes throws. Reading the source throws
  /// zip.data.crc and io.*.
  [[nodiscard]] std::shared_ptr<const ByteSource> source(base::Kept<const Archive> archive, const ArchiveEntry& entry,
                                                         Bytes part);

 private:
  std::shared_ptr<Spool> spool_for(const Archive& archive);

  std::filesystem::path folder_;
  std::map<std::size_t, std::shared_ptr<const SlicedEntry>> entries_;  // by index
  std::shared_ptr<Spool> spool_;                                       // created for the first entry that may change
};

}  // namespace onnxar
