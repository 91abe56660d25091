// Where everything goes: a pure function of names, sizes and alignments.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnxar/bytes.h"

namespace onnxar::zip {

/// The alignment that an entry of `size` bytes gets where `asked_for` (a power of two from 64 to 32768) is the
/// archive's: large entries begin on a page, so that they can be mapped and advised on their own.
std::uint64_t entry_alignment(std::uint64_t asked_for, std::uint64_t size) noexcept;

bool is_valid_alignment(std::uint64_t alignment) noexcept;

/// Bytes that one entry has at most: offsets then stay below 2^63, which file systems and `place` rely on.
inline constexpr std::uint64_t largest_entry = 1ULL << 60U;

/// One entry as it lies in the file.
struct Placement {
  std::uint64_t header_offset = 0;
  std::uint64_t data_offset = 0;
  std::uint64_t size = 0;
  std::uint64_t alignment = 0;
  bool zip64 = false;  ///< whether the local header carries a zip64 extra field

  [[nodiscard]] std::uint64_t end() const noexcept { return data_offset + size; }
};

/// Places an entry whose local header begins at `offset`: name, zip64 field where needed, and the smallest padding
/// record that brings the data to its alignment. `offset` and `size` must be below 2^62.
Placement place(std::uint64_t offset, std::size_t name_size, std::uint64_t size, std::uint64_t alignment) noexcept;
Placement place(std::uint64_t offset, std::size_t name_size, std::uint64_t size, std::uint64_t alignment,
                bool zip64) noexcept;

/// Whether the data of an entry at `header_offset` that begins at `data_offset` is where writers usually put it: where
/// this library does unless it is asked for more than 64, or at the first multiple of 64, with a padding record or
/// without one. The rule that `open` takes a local header for proved by (spec, P5).
bool is_usual_place(std::uint64_t data_offset, std::uint64_t header_offset, std::size_t name_size,
                    std::uint64_t size) noexcept;

/// Whether sizes or offsets have to move to a zip64 field.
bool needs_zip64_local(std::uint64_t size) noexcept;
bool needs_zip64_central(const Placement& placement) noexcept;

/// The bytes that the directory header of such an entry takes.
std::uint64_t central_header_size(std::size_t name_size, const Placement& placement) noexcept;
/// The bytes of the end record, with zip64 record and locator where they are needed, or wanted in any case.
std::uint64_t end_records_size(std::uint64_t entries, std::uint64_t directory_size, std::uint64_t directory_offset,
                               bool zip64 = false) noexcept;

/// What an edit takes over from the directory before.
struct KeptDirectory {
  Bytes headers;  ///< all but the model's, as they are
  std::uint64_t entries = 0;
  /// Zip64 end records stay once they are there: a reader that looks for them too far off would find the old ones.
  bool zip64_end = false;
};

/// The size of a file in which entries of these names and sizes stand, from `begin` on, and directory and end records
/// behind them. Errors: usage.argument (more than `largest_entry` bytes).
std::uint64_t file_size(std::span<const std::pair<std::string_view, std::uint64_t>> names_and_sizes,
                        std::uint64_t alignment, std::uint64_t begin = 0, const KeptDirectory& kept = {});

/// An entry with all that its headers say.
struct PlacedEntry {
  std::string name;
  Placement placement;
  std::uint32_t crc32 = 0;
};

/// The local file header, name and extra fields: exactly the bytes from header_offset to data_offset.
std::vector<std::byte> local_header_bytes(const PlacedEntry& entry);
/// The central directory and the end records, for a directory that begins at `directory_offset`.
std::vector<std::byte> directory_bytes(std::span<const PlacedEntry> entries, std::uint64_t directory_offset,
                                       const KeptDirectory& kept = {});

}  // namespace onnxar::zip
