// Reads the local header of an entry of a strict archive, and proves it against the directory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/keyed_hash.h"
#include "onnxar/bytes.h"
#include "zip/central_header.h"

namespace onnxar::zip {

/// The values that only the local header states. All others were proved equal to the directory header.
struct LocalEntry {
  std::uint64_t data_offset = 0;
  std::uint64_t alignment = 0;  ///< as a padding record states it; 64 without one
  bool unneeded_zip64 = false;
};

/// Remembers which padding in one file is zero. The states that edits left in a file share local headers with up to
/// 64 KiB of padding: the work of checking all states is linear in the file only if each padding is compared once.
class KnownZeros {
 public:
  /// True if all bytes of `padding`, a view of the file, are zero.
  [[nodiscard]] bool are_zeros(Bytes padding);
  /// Returns the number of bytes compared so far, except those of short padding.
  [[nodiscard]] std::uint64_t compared() const noexcept { return compared_; }

 private:
  struct Run {
    std::size_t size = 0;
    bool is_zero = false;
  };
  base::KeyedMap<std::uintptr_t, Run> known_;  // by address
  std::uint64_t compared_ = 0;
};

/// States if the superseded model, directory and end record of an edit may follow the entry's data, and if that state
/// may have zip64 end records.
enum class Tail : std::uint8_t { forbidden, without_zip64, allowed };

/// Proves the local header of `entry`, its padding, and that only a superseded tail lies between the data and `limit`,
/// where the next local header or the directory begins. REQUIRES: limit <= file.size(), and header, name and data end
/// at or before `limit` if the local header has no extra fields. `zeros` may be null. Throws zip.local.*,
/// zip.padding.*, zip.extra.*, zip.zip64.extra, zip.entry.version, .gap, .overlap or .bounds.
LocalEntry read_local_header(Bytes file, const DirectoryEntry& entry, std::uint64_t limit, Tail tail,
                             KnownZeros* zeros = nullptr);

/// Proves the header without the data. `room` begins with the header and holds all of it. Throws what the function
/// above throws, except zip.entry.gap, .overlap and .bounds.
LocalEntry read_local_header(Bytes room, const DirectoryEntry& entry, KnownZeros* zeros = nullptr);

}  // namespace onnxar::zip
