// The central directory of a strict archive.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ranges.h"
#include "onnxar/bytes.h"
#include "zip/end_records.h"
#include "zip/headers.h"
#include "zip/names.h"

namespace onnxar::zip {

/// The parsed directory of one file. Holds a copy of the directory's bytes, so that proved values stay valid if the
/// mapped file changes. Does not refer to other parts of the file. Move-only.
/// Threads: all const members may be called concurrently.
class Directory {
 public:
  /// Proves the end records, every directory header, the names and their uniqueness, the order of the entries, and that
  /// they do not overlap. The local header of an entry is not read if its data, at one of the offsets that
  /// `is_usual_place` accepts, ends where the next entry begins. Otherwise the header is read, and a superseded tail
  /// must fill the gap. For a file whose bytes are all at hand; DirectoryReader reads others, with the same checks.
  /// Errors: zip.*. Cost: O(directory); four allocations, and one more after an edit; two reads of local headers at
  /// most per superseded tail.
  static Directory read(Bytes file, const Limits& limits);

  [[nodiscard]] std::span<const DirectoryEntry> entries() const noexcept { return entries_; }
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const noexcept;
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  [[nodiscard]] bool unneeded_zip64() const noexcept { return unneeded_zip64_; }
  /// The bytes of all headers.
  [[nodiscard]] Bytes headers() const noexcept { return {bytes_.get(), size_}; }
  /// The index of the first entry that an edit appended, or the number of entries if no edit did. Entries before it
  /// were in the file when it was first written: no edit changes or cuts them. `undo` can cut off the others, and a
  /// later edit can then write different bytes in their place.
  /// Takes an entry whose local header is broken for one that an edit follows. Cost: the first call reads the local
  /// headers of large entries (at most those before the result); later ones O(1). REQUIRES: `file` is at hand as a
  /// whole.
  [[nodiscard]] std::size_t first_appended(Bytes file) const;
  /// The offset at which entry `index` must end: the next local header, or the directory.
  [[nodiscard]] std::uint64_t limit_of(std::size_t index) const noexcept;

  /// Proves the local header of an entry, even if it was proved before. Errors: as read_local_header.
  [[nodiscard]] LocalEntry prove_local(Bytes file, std::size_t index) const;
  /// The length of an entry's local header, with name and extra fields, if the data is at an offset that usual writers
  /// choose (P5a); 0 otherwise.
  [[nodiscard]] std::size_t regular_header_size(std::size_t index) const noexcept;
  /// Proves the local header of such an entry from the header's bytes, for callers that have read only these. Does not
  /// report faults: the first use of the entry reports them.
  void prove_regular(Bytes header, std::size_t index) const;
  /// The offset of the data. The first call for an entry proves its local header. No allocation unless it throws.
  [[nodiscard]] std::uint64_t data_offset(Bytes file, std::size_t index) const;
  /// Where the data of an entry is, once its local header is proved; 0 before.
  [[nodiscard]] std::uint64_t proved_data_offset(std::size_t index) const noexcept {
    return data_offsets_[index].load(std::memory_order_relaxed);
  }

 private:
  friend class DirectoryReader;
  Directory() = default;

  void read_at(const EndOfArchive& end, Bytes file);
  void read_headers(Bytes file, std::uint64_t size, std::uint64_t count);
  void check_positions() const;
  void index_names();
  void prove_irregular_entries(Bytes file, std::span<const std::size_t> indices);
  [[nodiscard]] bool is_followed_by_tail(Bytes file, std::size_t index) const;
  [[nodiscard]] bool may_hide_tail(std::size_t index) const noexcept;

  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
  std::vector<DirectoryEntry> entries_;
  NameIndex index_;
  /// 0 if the local header is not proved yet. Data never begins at 0, because the first header does. One more has the
  /// result of `first_appended`, 0 before the first call.
  mutable std::unique_ptr<std::atomic<std::uint64_t>[]> data_offsets_;
  std::uint64_t offset_ = 0;
  std::size_t first_after_gap_ = 0;  // the first entry after a tail that opening found
  bool zip64_ = false;
  bool unneeded_zip64_ = false;
};

// Reads the directory of a strict archive step by step, without reading the file itself.

/// Says which ranges of the file it reads next, and reads them once they are there:
///
///   DirectoryReader reader(file.size(), limits);
///   while (!reader.is_done()) {
///     fetch(reader.wants());  // for a mapped file there is nothing to do here
///     reader.step(file);
///   }
///   use(std::move(reader).take());
///
/// Three steps at most, for an archive whose local headers are where usual writers put them two: its end, its
/// directory. Each step makes all checks that its bytes allow, so that no range is wanted because of a number that was
/// not checked.
class DirectoryReader {
 public:
  DirectoryReader(std::uint64_t file_size, const Limits& limits) noexcept : size_(file_size), limits_(limits) {}

  [[nodiscard]] bool is_done() const noexcept { return stage_ == Stage::done; }
  /// The ranges that the next step reads, in any order; they may overlap.
  [[nodiscard]] std::vector<base::ByteRange> wants() const;
  /// Reads the wanted ranges of `file`, and no other byte. REQUIRES: !is_done(); `file` has the file's size.
  /// Errors: as Directory::read; after one the reader must not be used.
  void step(Bytes file);
  /// REQUIRES: is_done().
  [[nodiscard]] Directory take() && { return std::move(directory_); }

 private:
  enum class Stage : std::uint8_t {
    end,           ///< end record, zip64 locator and zip64 record
    faulty_end,    ///< all places where the end record could be instead, for the error message
    directory,     ///< all directory headers
    headers,       ///< the local headers whose places the directory does not tell, and the ends of superseded tails
    long_headers,  ///< those of them that are longer than usual
    done,
  };

  void read_end_of(Bytes file);
  void read_directory(Bytes file);
  void measure_headers(Bytes file);
  void prove_headers(Bytes file);
  [[nodiscard]] base::ByteRange last(std::uint64_t length) const noexcept;
  [[nodiscard]] std::uint64_t usual_length(std::size_t index) const noexcept;

  std::uint64_t size_;
  Limits limits_;
  Stage stage_ = Stage::end;
  EndOfArchive end_;
  Directory directory_;
  std::vector<std::size_t> irregular_;         // indices of the entries to prove
  std::vector<base::ByteRange> long_headers_;  // of some of these
};

}  // namespace onnxar::zip
