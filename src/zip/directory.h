// The central directory of a strict archive.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/byte_range.h"
#include "onnxar/bytes.h"
#include "zip/central_header.h"
#include "zip/end_records.h"
#include "zip/local_header.h"
#include "zip/name_index.h"

namespace onnxar::zip {

/// Makes ranges of the file readable, in any order; they may overlap.
using Need = std::function<void(std::span<const base::ByteRange>)>;

/// The parsed directory of one file. Holds a copy of the directory's bytes, so that proved values stay valid if the
/// mapped file changes. Does not refer to other parts of the file. Move-only.
/// Threads: all const members may be called concurrently.
class Directory {
 public:
  /// Proves the end records, every directory header, the names and their uniqueness, the order of the entries, and that
  /// they do not overlap. The local header of an entry is not read if its data, at one of the offsets that
  /// `is_usual_place` accepts, ends where the next entry begins. Otherwise the header is read, and a superseded tail
  /// must fill the gap. Throws zip.*. Cost: O(directory); four allocations, and one more after an edit; two reads of
  /// local headers at most per superseded tail.
  ///
  /// `need`, unless it is empty, is called before bytes of `file` are read, and no others are read: twice if the local
  /// headers are where writers usually put them (the end, the directory), else up to four times. Unchecked numbers
  /// never cause a read: each step makes all checks that its bytes allow.
  ///
  /// `zeros`, unless it is null, is shared with the directories of the other states of the file, and outlives this one.
  /// Local headers are then proved by one thread at a time.
  static Directory read(Bytes file, const Limits& limits, const Need& need = {}, KnownZeros* zeros = nullptr);

  [[nodiscard]] std::span<const DirectoryEntry> entries() const noexcept { return entries_; }
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const noexcept;
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  /// True if the file has zip64 end records; `unneeded_zip64` is true if it has them without needing them.
  [[nodiscard]] bool zip64() const noexcept { return zip64_; }
  [[nodiscard]] bool unneeded_zip64() const noexcept { return unneeded_zip64_; }
  /// Returns the bytes of all headers.
  [[nodiscard]] Bytes headers() const noexcept { return {bytes_.get(), size_}; }
  /// Returns the index of the first entry that an edit appended, or the number of entries if no edit did. Entries
  /// before it were in the file when it was first written: no edit changes or cuts them. `undo` can cut off the others,
  /// and a later edit can then write different bytes in their place. Takes an entry whose local header is broken for
  /// one that an edit follows. Cost: the first call reads the local headers of large entries (at most those before the
  /// result); later ones O(1). REQUIRES: `file` is in memory as a whole.
  [[nodiscard]] std::size_t first_appended(Bytes file) const;
  /// Returns the offset at which entry `index` must end: the next local header, or the directory.
  [[nodiscard]] std::uint64_t limit_of(std::size_t index) const noexcept;

  /// Calls `need` for the bytes that proving these local headers takes, and for the ends of superseded tails: twice if
  /// a header is longer than usual, else once.
  void need_headers(Bytes file, const Need& need, std::span<const std::size_t> indices) const;
  /// Proves the local header of an entry, even if it was proved before. Throws what `read_local_header` throws.
  [[nodiscard]] LocalEntry prove_local(Bytes file, std::size_t index) const;
  /// Returns what the local header of an entry states. The first call for an entry proves it; later ones read nothing,
  /// because the bytes may have changed. Throws what `read_local_header` throws.
  [[nodiscard]] LocalEntry local(Bytes file, std::size_t index) const;
  /// Returns the length of an entry's local header, with name and extra fields, if the data is at an offset that usual
  /// writers choose (P5a); 0 otherwise.
  [[nodiscard]] std::size_t regular_header_size(std::size_t index) const noexcept;
  /// Returns the data offset that the directory suggests for an entry. It is always the same number. In rare cases,
  /// before a superseded tail, the local header differs; proving the header detects that.
  [[nodiscard]] std::uint64_t likely_data_offset(std::size_t index) const noexcept;
  /// Proves the local header of such an entry from the header's bytes, for callers that have read only these. Does not
  /// report faults: the first use of the entry reports them.
  void prove_regular(Bytes header, std::size_t index) const;
  /// Returns the offset of the data. No allocation unless it throws. Throws what `local` throws.
  [[nodiscard]] std::uint64_t data_offset(Bytes file, std::size_t index) const {
    return local(file, index).data_offset;
  }
  /// Returns the offset of an entry's data once its local header is proved; 0 before.
  [[nodiscard]] std::uint64_t proved_data_offset(std::size_t index) const noexcept { return proved(index).data_offset; }

 private:
  Directory() = default;

  void read_headers(Bytes file, std::uint64_t size, std::uint64_t count);
  void check_positions() const;
  void index_names();
  void prove_irregular_entries(Bytes file, const Need& need);
  [[nodiscard]] LocalEntry proved(std::size_t index) const noexcept;
  void keep(std::size_t index, const LocalEntry& local) const noexcept;
  [[nodiscard]] std::uint64_t usual_length(std::size_t index) const noexcept;
  [[nodiscard]] bool is_followed_by_tail(Bytes file, std::size_t index) const;
  [[nodiscard]] bool may_hide_tail(std::size_t index) const noexcept;

  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
  std::vector<DirectoryEntry> entries_;
  NameIndex index_;
  /// The contents of each proved local header (`keep`); 0 if it is not proved yet. Data never begins at 0, because the
  /// first header does. One more has the result of `first_appended`, 0 before the first call.
  mutable std::unique_ptr<std::atomic<std::uint64_t>[]> proofs_;
  KnownZeros* zeros_ = nullptr;
  std::uint64_t offset_ = 0;
  std::size_t first_after_gap_ = 0;  // the first entry after a tail that opening found
  bool zip64_ = false;
  bool unneeded_zip64_ = false;
};

}  // namespace onnxar::zip
