// Reading an ONNX archive: open, find, map, resolve.
//
// An archive is a zip file in which every entry is stored and aligned and `__MODEL_PROTO` comes last
// (spec/onnx-archive.md). `open` maps the file and proves what its directory can prove; nothing is copied, and no byte
// of a weight is touched before somebody looks at it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

/// The name of the entry that holds the ModelProto.
inline constexpr std::string_view model_entry_name = "__MODEL_PROTO";

struct OpenOptions {
  std::uint64_t max_entries = 1ULL << 20U;
  std::uint64_t max_directory_size = 256ULL << 20U;  ///< bytes
  std::uint64_t max_model_size = (1ULL << 31U) - 1;  ///< bytes; what protobuf can parse
  Prefetch prefetch = Prefetch::none;                ///< of all bytes, once the directory is proved
  /// Reads the file into memory instead of mapping it: for file systems where mapping hurts, such as network ones, and
  /// for files that somebody may shorten. Takes as much memory as the archive is long. Bytes in memory stay as they
  /// are.
  bool copy_in = false;
  std::size_t threads = 0;  ///< that read with copy_in; 0: as many as there are cores
};

/// A part of a file that is open already, such as an archive embedded in another file.
struct DescriptorRange {
  int descriptor = -1;                       ///< open for reading on a regular file
  std::uint64_t offset = 0;                  ///< bytes, a multiple of 64
  std::optional<std::uint64_t> length = {};  ///< bytes; absent: to the end of the file
};

/// One entry of an archive, as its directory tells it. A small value; `name` is valid as long as the Archive. It is
/// good for the archive that gave it: `name` points into that one's bytes, which is how another one is told. One that
/// was filled in by hand, or that another archive gave, is refused: usage.foreign_entry.
struct ArchiveEntry {
  std::size_t index = 0;
  std::string_view name;
  std::uint64_t size = 0;           ///< bytes
  std::uint64_t header_offset = 0;  ///< of the local file header, from the archive's first byte
  std::uint32_t crc32 = 0;
};

/// Where an entry's bytes lie.
struct EntryLocation {
  std::uint64_t offset = 0;     ///< of the first byte, from the archive's first byte
  std::uint64_t alignment = 0;  ///< as recorded, 64 where no record is: `offset` is a multiple of it
};

/// An open archive. Owns its mapping (shared with those who took `owner()`). Move-only.
///
/// Offsets, in errors too, count from the first byte of the archive: that of the file, unless it is opened at an
/// offset.
///
/// What becomes of the file while it is mapped:
/// - replaced by a rename, or removed: all stays as it was opened; the system keeps the file until the mapping goes.
/// - edited by this library (edit.h): all stays as it was opened, since edits only append; `undo` shortens the file.
/// - shortened, or overwritten in place: bytes that were cut off fault on access (SIGBUS, which ends the process unless
///   it is handled), others change under the reader. No reader of a mapping can prevent that: publish files by renaming
///   them, or open with OpenOptions::copy_in, to which nothing matters that happens once `open` has returned.
///
/// Threads: every const member may be called from several threads at once.
/// CRCs are not verified here but by `check` and wherever bytes are copied.
class Archive {
 public:
  /// Maps and opens the file. Errors: io.*, zip.*, archive.*; a plain zip is refused with a hint to `repack`. A file
  /// that somebody is editing may be opened as it was before or is afterwards; in between it is archive.busy: try
  /// again. archive.torn: an edit was interrupted, and `recover` (edit.h) brings the state before it back. Cost:
  /// O(directory), 100 to 200 ns an entry. Addresses honour the recorded alignments up to 4096, with copy_in all.
  static Archive open(const std::filesystem::path& path, const OpenOptions& options = {});

  /// Opens an archive in a part of an open file. The descriptor stays the caller's: its position does not move, no lock
  /// is taken, and it may be closed at once. Addresses are multiples of the least of 4096, the recorded alignment, and
  /// the largest power of two that divides `range.offset`; with copy_in, of the recorded alignment.
  /// Errors: as above, without a path; usage.argument (an offset that 64 does not divide, a part that leaves the file).
  /// Nobody is asked whether the file is being edited: what is no whole archive is a zip.* error.
  static Archive open(const DescriptorRange& range, const OpenOptions& options = {});

  /// Opens an archive in memory. `owner` keeps `bytes` alive; without one the caller does, longer than the Archive and
  /// all views of it. `bytes` should begin on a page for the recorded alignments to hold in memory.
  static Archive open(Bytes bytes, std::shared_ptr<const void> owner, const OpenOptions& options = {});
  /// Deleted: the archive would be a view of a temporary.
  template <TemporaryContainer T>
  static Archive open(T&& bytes, std::shared_ptr<const void> owner, const OpenOptions& options = {}) = delete;

  Archive(Archive&& other) noexcept;
  Archive& operator=(Archive&& other) noexcept;
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;
  ~Archive();

  /// How many entries there are, the model among them.
  [[nodiscard]] std::size_t size() const noexcept;
  /// Entry `index` in the order of the file; the last one is the model. REQUIRES: index < size().
  [[nodiscard]] ArchiveEntry entry(std::size_t index) const& noexcept;
  ArchiveEntry entry(std::size_t index) const&& = delete;
  /// The entry of exactly this name. Cost: O(1), no allocation.
  [[nodiscard]] std::optional<ArchiveEntry> find(std::string_view name) const& noexcept;
  std::optional<ArchiveEntry> find(std::string_view name) const&& = delete;

  /// Where the entry's bytes lie; reads and proves its local header. Errors: zip.local.*, zip.padding.*, zip.extra.*,
  /// zip.zip64.extra, zip.entry.version, .gap, .overlap, .bounds (the directory alone does not show them all);
  /// usage.foreign_entry (the entry is not of this archive).
  [[nodiscard]] EntryLocation locate(const ArchiveEntry& entry) const;
  /// The entry's bytes, a view into the mapping. The local header is proved at the first use of each entry, after that
  /// the cost is a load and an addition. No allocation. Errors: as `locate`.
  [[nodiscard]] Bytes bytes(const ArchiveEntry& entry) const&;
  Bytes bytes(const ArchiveEntry& entry) const&& = delete;

  /// Has the system read ahead, or waits until all is there: of one entry, or of any bytes of this archive, such as
  /// `resolve` gave. Where there is no mapping nothing needs doing, and it is soon done. Errors: as `bytes`;
  /// usage.argument (bytes of something else); io.failed (the file was shortened, or cannot be read).
  void prefetch(const ArchiveEntry& entry, Prefetch how) const;
  void prefetch(Bytes bytes, Prefetch how) const;

  /// Hands out copies of the entry's bytes, a piece at a time, and compares the CRC-32 of what it handed out at the
  /// end: for readers of files that others may edit. `verify` and `bytes` read the file twice, and it may have been cut
  /// and edited anew between. Errors: zip.data.crc; io.changed (the file was changed meanwhile; try again);
  /// usage.argument (an empty sink); as `locate`; what `sink` throws passes.
  void copy(const ArchiveEntry& entry, const ByteSink& sink) const;
  /// Compares the CRC-32 of the entry's bytes. Errors: zip.data.crc; as `locate`. Cost: reads them all.
  void verify(const ArchiveEntry& entry) const;

  /// The serialised ModelProto, for the caller's own protobuf.
  [[nodiscard]] Bytes model() const&;
  Bytes model() const&& = delete;

  /// What a tensor's `external_data` names: `location` is an entry name, `offset` counts from the entry's first byte
  /// (0 when absent), without `length` the slice goes to the entry's end.
  /// Errors: onnx.external_data.missing (no such entry), .out_of_range; as `locate` at first use.
  /// Cost: below 100 ns hot, no allocation.
  [[nodiscard]] Bytes resolve(std::string_view location, std::uint64_t offset = 0,
                              std::optional<std::uint64_t> length = std::nullopt) const&;
  Bytes resolve(std::string_view location, std::uint64_t offset = 0,
                std::optional<std::uint64_t> length = std::nullopt) const&& = delete;

  /// A share in the mapping: views stay valid as long as somebody holds one, also after the Archive is gone. Null for
  /// bytes in memory that were given without an owner.
  [[nodiscard]] const std::shared_ptr<const void>& owner() const noexcept;
  /// All bytes of the archive.
  [[nodiscard]] Bytes file() const& noexcept;
  Bytes file() const&& = delete;
  /// The path it was opened by; empty for descriptors and for bytes in memory.
  [[nodiscard]] const std::filesystem::path& path() const noexcept;

 private:
  friend class ArchiveAccess;
  struct Parts;
  explicit Archive(std::unique_ptr<Parts> parts) noexcept;
  void check_own(const ArchiveEntry& entry) const;
  [[nodiscard]] Bytes bytes_at(std::size_t index) const;

  std::unique_ptr<Parts> parts_;
};

/// Whether the bytes begin or end as an archive (or any zip file) does. Formats are told apart by content, never by
/// name.
[[nodiscard]] bool looks_like_zip(Bytes bytes) noexcept;

}  // namespace ONNXAR_API onnxar
