// Computes the layout of an archive and the bytes of its headers, only from names, sizes and alignments.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnxar/bytes.h"
#include "onnxar/error.h"

namespace onnxar::zip {

/// Returns the alignment of an entry of `size` bytes in an archive whose alignment is `asked_for` (W6). Large entries
/// begin on a page, so that each can be mapped, locked and advised separately.
std::uint64_t entry_alignment(std::uint64_t asked_for, std::uint64_t size) noexcept;

/// True if `alignment` is a power of two from 64 to 32768.
bool is_valid_alignment(std::uint64_t alignment) noexcept;
/// Checks that `alignment` is valid. Throws usage.argument.
void check_alignment(std::uint64_t alignment);

/// The maximum size of one entry. It keeps offsets below 2^63, which file systems and `place` require.
inline constexpr std::uint64_t largest_entry = 1ULL << 60U;

/// The offsets and the size of one entry in the file.
struct Placement {
  std::uint64_t header_offset = 0;
  std::uint64_t data_offset = 0;
  std::uint64_t size = 0;
  std::uint64_t alignment = 0;
  bool zip64 = false;  ///< true if the local header carries a zip64 extra field

  [[nodiscard]] std::uint64_t end() const noexcept { return data_offset + size; }
};

/// Places an entry whose local header begins at `offset`: name, a zip64 field if it is needed, and the shortest padding
/// record that aligns the data. REQUIRES: `offset` and `size` are below 2^62.
Placement place(std::uint64_t offset, std::size_t name_size, std::uint64_t size, std::uint64_t alignment) noexcept;

/// True if the data of the entry at `header_offset` begins at an offset that usual writers choose: the one that this
/// library chooses for an alignment of 64, or the first multiple of 64, with or without a padding record. This is the
/// shortcut P5a of the specification: it lets opening an archive skip the local headers.
bool is_usual_place(std::uint64_t data_offset, std::uint64_t header_offset, std::size_t name_size,
                    std::uint64_t size) noexcept;

/// True if sizes or offsets need a zip64 field.
bool needs_zip64_local(std::uint64_t size) noexcept;
bool needs_zip64_central(const Placement& placement) noexcept;

/// The part of the previous directory that an edit repeats.
struct KeptDirectory {
  Bytes headers;  ///< of the entries that stay, unchanged
  std::uint64_t entries = 0;
  /// True if the previous state has zip64 end records. The new state then has them too (X6): otherwise a reader that
  /// searches for them would find the superseded ones.
  bool zip64_end = false;
};

struct Limits {
  std::uint64_t entries = 1ULL << 20U;
  std::uint64_t directory_size = 256ULL << 20U;
  /// True if names are only labels, as in a `.npz`: no file gets one, so they need not be paths, nor differ by more
  /// than case. For foreign zips.
  bool any_names = false;
};

/// Refuses what is beyond the limits. The size of a directory is that of its headers, without the end records. Throws
/// zip.limit.*, at `place`.
void expect_within(const Limits& limits, std::uint64_t entries, std::uint64_t directory_size, const Place& place);

/// An entry before it has a place.
struct SizedEntry {
  std::string_view name;
  std::uint64_t size = 0;
  std::uint64_t alignment = 0;  ///< of its data, at least; a large entry gets more (entry_alignment)
};

/// Returns the size of a file with these entries, the first at `begin`, followed by directory and end records. Throws
/// usage.argument (more than `largest_entry` bytes), zip.limit.* or what `Writer::add` throws.
std::uint64_t file_size(std::span<const SizedEntry> entries, std::uint64_t begin = 0, const KeptDirectory& kept = {},
                        const Limits& limits = {});
/// Computes the size of a file whose entries have one alignment.
std::uint64_t file_size(std::span<const std::pair<std::string_view, std::uint64_t>> names_and_sizes,
                        std::uint64_t alignment, std::uint64_t begin = 0, const KeptDirectory& kept = {},
                        const Limits& limits = {});

/// An entry with all values that its headers state.
struct PlacedEntry {
  std::string name;
  Placement placement;
  std::uint32_t crc32 = 0;
};

/// Returns the local file header with name and extra fields: the bytes from header_offset to data_offset.
std::vector<std::byte> local_header_bytes(const PlacedEntry& entry);
/// Returns the central directory: the kept headers, then those of `entries`.
std::vector<std::byte> directory_headers(std::span<const PlacedEntry> entries, const KeptDirectory& kept = {});
/// Appends the end record of a directory of `size` bytes at `offset`, after zip64 record and locator if the values need
/// them or if `zip64` is true.
void append_end_records(std::vector<std::byte>& out, std::uint64_t entries, std::uint64_t size, std::uint64_t offset,
                        bool zip64 = false);

}  // namespace onnxar::zip
