// The central directory of a strict archive, and what it proves.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "onnxar/bytes.h"
#include "zip/end_records.h"
#include "zip/name_index.h"

namespace onnxar::zip {

/// One entry as the directory tells it.
struct DirectoryEntry {
  std::string_view name;  ///< lives in the Directory
  std::uint64_t size = 0;
  std::uint64_t header_offset = 0;
  std::uint64_t central_offset = 0;  ///< of its header in the directory
  std::uint32_t crc32 = 0;
  std::uint16_t alignment = 0;  ///< that it repeats from the local header; 0 where it does not
  std::uint16_t last_mod_time = 0;
  std::uint16_t last_mod_date = 0;
  bool unneeded_zip64 = false;
};

/// What the local header of an entry adds, proved equal to the directory in all else.
struct LocalEntry {
  std::uint64_t data_offset = 0;
  std::uint64_t alignment = 0;  ///< as a padding record says; 64 where there is none
  bool unneeded_zip64 = false;
};

/// The parsed directory of one file. Holds a copy of the directory's bytes, so that what was proved stays proved when
/// the file under a mapping changes; refers to no other part of the file. Move-only.
/// Threads: all const members may be called concurrently.
class Directory {
 public:
  /// Proves all that the directory can show: the end records, every central header, names and their uniqueness, order,
  /// offsets without overlap. Where an entry does not end where the next one begins, its local header is read and the
  /// rest must be a superseded tail. An entry is taken to end there without that where its data would then begin at one
  /// of the places that `is_usual_place` names.
  /// Errors: zip.*. Cost: O(directory); four allocations; two reads of local headers at most per superseded tail.
  static Directory read(Bytes file, const Limits& limits);

  [[nodiscard]] std::span<const DirectoryEntry> entries() const noexcept { return entries_; }
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const noexcept;
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  [[nodiscard]] bool unneeded_zip64() const noexcept { return unneeded_zip64_; }
  /// All headers, as they stand in the file.
  [[nodiscard]] Bytes headers() const noexcept { return {bytes_.get(), size_}; }
  /// The first entry that an edit appended; their number where there is none. What comes before it belongs to the state
  /// that the file was written in, which no edit changes or cuts; the rest can be cut off, and other bytes put there.
  [[nodiscard]] std::size_t first_appended() const noexcept { return first_appended_; }
  /// Where entry `index` has to end: the next local header, or the directory.
  [[nodiscard]] std::uint64_t limit_of(std::size_t index) const noexcept;

  /// Proves the local header of an entry, whether it was before or not. Errors: as
  /// read_local_header.
  [[nodiscard]] LocalEntry prove_local(Bytes file, std::size_t index) const;
  /// How long the local header of an entry is, name and extra fields with it, if the entry ends where writers usually
  /// have it; 0 where it does not.
  [[nodiscard]] std::size_t regular_header_size(std::size_t index) const noexcept;
  /// Proves the local header of such an entry from its bytes alone, for who has read them without the rest of the file.
  /// Does nothing where they are wrong: the first use tells.
  void prove_regular(Bytes header, std::size_t index) const;
  /// The offset of the data; the local header is proved the first time. No allocation unless it throws.
  [[nodiscard]] std::uint64_t data_offset(Bytes file, std::size_t index) const;

 private:
  Directory() = default;

  void read_headers(Bytes file, std::uint64_t size, std::uint64_t count);
  void check_positions() const;
  void index_names();
  void prove_irregular_entries(Bytes file);

  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
  std::vector<DirectoryEntry> entries_;
  NameIndex index_;
  /// 0 = not proved yet: data never begins at 0, where the first header is.
  mutable std::unique_ptr<std::atomic<std::uint64_t>[]> data_offsets_;
  std::uint64_t offset_ = 0;
  std::size_t first_appended_ = 0;
  bool zip64_ = false;
  bool unneeded_zip64_ = false;
};

}  // namespace onnxar::zip
