// Reading an ONNX archive: open it, find an entry, use its bytes where they are.
//
// An archive is a zip file in which every entry is stored and aligned, and in which `__MODEL_PROTO` is the last entry
// (spec/README.md). `Archive::open` maps the file and verifies everything that the directory alone can show. It copies
// nothing, and touches no byte of a weight.
//
//   const onnxar::Archive archive = onnxar::Archive::open("model.onnxar");
//   for (const onnxar::ArchiveEntry& entry : archive.entries()) use(entry.name, archive.bytes(entry));
//
// Functions that take a `Failure&` do not throw (error.h). resolve.h has a table of the calls that give a tensor's
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>

#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/random_access.h"
#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

/// The name of the entry that holds the ModelProto.
inline constexpr std::string_view model_entry_name = "__MODEL_PROTO";

/// The longest ModelProto, in bytes. Protobuf's libraries count the bytes of a message in 31 bits.
inline constexpr std::uint64_t model_size_maximum = (1ULL << 31U) - 1;

struct OpenOptions {
  std::uint64_t max_entries = 1ULL << 20U;
  std::uint64_t max_directory_size = 256ULL << 20U;   ///< bytes
  std::uint64_t max_model_size = model_size_maximum;  ///< bytes; at most this constant
  Prefetch prefetch = Prefetch::none;                 ///< of the whole file, once the directory is verified
  /// Read the file into memory instead of mapping it: for network file systems, where mapping is slow, and for files
  /// that other processes may shorten. Needs as much memory as the archive is long.
  bool copy_in = false;
  std::size_t threads = 0;  ///< threads that read with copy_in; 0: one for each core
};

/// A part of an open file, such as an archive that is embedded in another file.
struct DescriptorRange {
  /// A regular file, open for reading; on Windows, opened without FILE_FLAG_OVERLAPPED. Negative, or null: none.
  NativeHandle descriptor = NativeHandle(std::intptr_t{-1});
  std::uint64_t offset = 0;                  ///< bytes, a multiple of 64
  std::optional<std::uint64_t> length = {};  ///< bytes; absent: to the end of the file
};

/// One entry of an archive, as the directory describes it. A small value; `name` is valid as long as the Archive.
/// An entry that was filled in by hand, or that comes from a different archive, is refused (usage.foreign_entry).
struct ArchiveEntry {
  std::size_t index = 0;
  std::string_view name;
  std::uint64_t size = 0;           ///< bytes
  std::uint64_t header_offset = 0;  ///< of the local file header
  std::uint32_t crc32 = 0;
};

/// Where the bytes of an entry are.
struct EntryLocation {
  std::uint64_t offset = 0;     ///< of the first byte
  std::uint64_t alignment = 0;  ///< as recorded, or 64 without a record; `offset` is a multiple of it
};

/// An open archive. Owns its mapping, together with every share from `owner()`. Move-only.
///
/// Offsets, in errors too, count from the archive's first byte, wherever it is in the file.
///
/// | change of the file           | effect on views                                                                   |
/// |------------------------------|-----------------------------------------------------------------------------------|
/// | removed, or renamed over     | none: the system keeps the old file until the mapping is gone                     |
/// | edited by this library       | none: an edit only appends (edit.h); but `undo` shortens the file                 |
/// | shortened in place           | SIGBUS at access to the bytes that were cut off: ends the process unless handled  |
/// | overwritten in place         | the bytes change under the reader                                                 |
///
/// A mapping cannot prevent the last two. Publish files by renaming them, or open with OpenOptions::copy_in, which
/// makes the archive independent of the file.
///
/// Threads: every const member may be called from several threads at once. CRCs are compared by `verify`, `copy`,
/// `read_entry` and `check`, not by `open` or `bytes`.
class Archive {
 public:
  /// Opens the file. Errors: io.* (.address_space: it is larger than memory can be, on 32-bit hosts), zip.*, archive.*.
  /// For a plain zip the message names `repack`. archive.busy: another process is editing the file; try again.
  /// archive.torn: an edit was interrupted; `recover` (edit.h) restores the state before it. Cost: O(directory), 100 to
  /// 200 ns per entry. Addresses honour recorded alignments up to 4096, and all of them with copy_in.
  static Archive open(const std::filesystem::path& path, const OpenOptions& options = {});

  /// Opens an archive in a part of an open file. The descriptor is only borrowed: its position does not move, and it
  /// may be closed when `open` returns. Locks are not checked, so a file that is being edited gives a zip.* error.
  /// Addresses are multiples of the smallest of 4096, the recorded alignment, and the largest power of two that divides
  /// `range.offset`; with copy_in, of the recorded alignment.
  /// Errors: as above, without a path; usage.argument (an offset that is not a multiple of 64, a part beyond the file).
  static Archive open(const DescriptorRange& range, const OpenOptions& options = {});

  /// Opens an archive in memory. `owner` keeps `bytes` alive. If it is null, the caller keeps them alive for longer
  /// than the Archive and all views of it. For the recorded alignments to hold in memory, `bytes` begin on a page.
  static Archive open(Bytes bytes, std::shared_ptr<const void> owner, const OpenOptions& options = {});
  template <TemporaryContainer T>
  static Archive open(T&& bytes, std::shared_ptr<const void> owner, const OpenOptions& options = {}) = delete;

  /// Opens an archive that is read by ranges. Reads its end, its directory, and from then on what is used: `bytes`,
  /// `model` and `resolve` read at the first use of a range and keep it, `copy` and `verify` do not keep it.
  /// OpenOptions::prefetch reads everything if it is `populate`; `copy_in` has no effect. Where other members promise
  /// not to allocate or to take constant time, this holds for bytes that were read; where they name errors, those of
  /// `file` come on top. Errors: zip.*, archive.*, as for bytes in memory; io.address_space; those of `file`.
  static Archive open(std::shared_ptr<const RandomAccess> file, const OpenOptions& options = {});

  /// `open` without exceptions.
  static std::optional<Archive> open(const std::filesystem::path& path, Failure& failure,
                                     const OpenOptions& options = {}) noexcept;
  static std::optional<Archive> open(const DescriptorRange& range, Failure& failure,
                                     const OpenOptions& options = {}) noexcept;
  static std::optional<Archive> open(Bytes bytes, std::shared_ptr<const void> owner, Failure& failure,
                                     const OpenOptions& options = {}) noexcept;
  static std::optional<Archive> open(std::shared_ptr<const RandomAccess> file, Failure& failure,
                                     const OpenOptions& options = {}) noexcept;
  template <TemporaryContainer T>
  static std::optional<Archive> open(T&& bytes, std::shared_ptr<const void> owner, Failure& failure,
                                     const OpenOptions& options = {}) = delete;

  Archive(Archive&& other) noexcept;
  Archive& operator=(Archive&& other) noexcept;
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;
  ~Archive();

  /// The number of entries, including the model.
  [[nodiscard]] std::size_t size() const noexcept;
  /// Entry `index` in the order of the file. The last one is the model. REQUIRES: index < size().
  [[nodiscard]] ArchiveEntry entry(std::size_t index) const& noexcept;
  ArchiveEntry entry(std::size_t index) const&& = delete;
  /// All entries in the order of the file, as a random-access range of ArchiveEntry values. Valid until the Archive is
  /// moved or destroyed.
  [[nodiscard]] auto entries() const& noexcept {
    using Iterator = detail::IndexIterator<EntryAt>;
    return std::ranges::subrange(Iterator({this}, 0), Iterator({this}, static_cast<std::ptrdiff_t>(size())));
  }
  void entries() const&& = delete;
  /// The entry with exactly this name. Cost: O(1), no allocation.
  [[nodiscard]] std::optional<ArchiveEntry> find(std::string_view name) const& noexcept;
  std::optional<ArchiveEntry> find(std::string_view name) const&& = delete;

  /// Where the entry's bytes are. Reads and verifies its local header. Errors: zip.local.*, zip.padding.*, zip.extra.*,
  /// zip.zip64.extra, zip.entry.version, .gap, .overlap, .bounds; usage.foreign_entry.
  [[nodiscard]] EntryLocation locate(const ArchiveEntry& entry) const;
  [[nodiscard]] std::optional<EntryLocation> locate(const ArchiveEntry& entry, Failure& failure) const noexcept;
  /// The entry's bytes, a view of the mapping. The local header is verified at the first use of each entry; after that
  /// a call costs a load and an addition. No allocation. Errors: as `locate`.
  [[nodiscard]] Bytes bytes(const ArchiveEntry& entry) const&;
  Bytes bytes(const ArchiveEntry& entry) const&& = delete;
  [[nodiscard]] std::optional<Bytes> bytes(const ArchiveEntry& entry, Failure& failure) const& noexcept;
  std::optional<Bytes> bytes(const ArchiveEntry& entry, Failure& failure) const&& = delete;

  /// Asks the system to read ahead, or waits until all bytes are in memory: of one entry, or of any bytes of this
  /// archive, such as the result of `resolve`. Does nothing without a mapping. Errors: as `bytes`;
  /// usage.argument (bytes outside the archive); io.failed (the file was shortened, or cannot be read).
  void prefetch(const ArchiveEntry& entry, Prefetch how) const;
  void prefetch(Bytes bytes, Prefetch how) const;
  /// As above, for several entries: of an archive that is read by ranges, `populate` reads all of them at once.
  void prefetch(std::span<const ArchiveEntry> entries, Prefetch how) const;

  /// Hands out copies of the entry's bytes in pieces, and compares the CRC-32 of these copies after the last one.
  /// Use it for files that others may edit: `verify` followed by `bytes` reads the file twice, and the file may change
  /// in between. Errors: zip.data.crc; io.changed (the file was changed during the call; try again); usage.argument (an
  /// empty sink); as `locate`; exceptions of `sink` pass through.
  void copy(const ArchiveEntry& entry, const ByteSink& sink) const;
  /// Compares the CRC-32 of the entry's bytes. Errors: zip.data.crc; as `locate`. Cost: reads all of them.
  void verify(const ArchiveEntry& entry) const;
  bool verify(const ArchiveEntry& entry, Failure& failure) const noexcept;

  /// The further graphs: entries `NAME.onnx` in the root, each a ModelProto over the entries of the archive
  /// (spec/graphs.md). In the order of the file. Valid as long as the archive. Cost: O(entries).
  [[nodiscard]] std::vector<ArchiveEntry> graphs() const&;
  std::vector<ArchiveEntry> graphs() const&& = delete;
  /// A view of the archive whose `model()` is the named graph, also for every function that takes the result. `name` is
  /// the graph's, with or without `.onnx`; that of the model among the graphs
  /// (`onnxar.model.name`) and `__MODEL_PROTO` give the archive as it is. Shares mapping and directory with this
  /// archive, which it may outlive. Errors: usage.no_such_entry; those of reading the model's metadata. Cost:
  /// O(fields of ModelProto itself).
  [[nodiscard]] Archive graph(std::string_view name) const;
  /// The entry of `model()`: the last one, or that of the graph for which `graph` made this archive.
  [[nodiscard]] ArchiveEntry model_entry() const& noexcept;
  ArchiveEntry model_entry() const&& = delete;

  /// The serialised ModelProto, for any protobuf. Errors: as `bytes`.
  [[nodiscard]] Bytes model() const&;
  Bytes model() const&& = delete;
  [[nodiscard]] std::optional<Bytes> model(Failure& failure) const& noexcept;
  std::optional<Bytes> model(Failure& failure) const&& = delete;

  /// The bytes that a tensor's `external_data` names: `location` is the name of an entry, `offset` counts from the
  /// entry's first byte. Without a `length` the slice ends where the entry ends. Errors:
  /// onnx.external_data.missing (no such entry), .out_of_range; as `bytes`. Cost: below 100 ns, no allocation.
  [[nodiscard]] Bytes resolve(std::string_view location, std::uint64_t offset = 0,
                              std::optional<std::uint64_t> length = std::nullopt) const&;
  Bytes resolve(std::string_view location, std::uint64_t offset = 0,
                std::optional<std::uint64_t> length = std::nullopt) const&& = delete;
  [[nodiscard]] std::optional<Bytes> resolve(std::string_view location, std::uint64_t offset,
                                             std::optional<std::uint64_t> length, Failure& failure) const& noexcept;
  std::optional<Bytes> resolve(std::string_view location, std::uint64_t offset, std::optional<std::uint64_t> length,
                               Failure& failure) const&& = delete;

  /// A share in the mapping. Views stay valid while any share exists, even after the Archive is gone. Null for bytes in
  /// memory that were given without an owner.
  [[nodiscard]] const std::shared_ptr<const void>& owner() const noexcept;
  /// All bytes of the archive. Of one that is read by ranges, only bytes that were read can be accessed.
  [[nodiscard]] Bytes file() const& noexcept;
  Bytes file() const&& = delete;
  /// The path that was opened, or the name of the RandomAccess; empty for descriptors and for bytes in memory.
  [[nodiscard]] const std::filesystem::path& path() const noexcept;

 private:
  friend class ArchiveAccess;
  struct Parts;
  struct EntryAt {
    const Archive* archive = nullptr;
    ArchiveEntry operator()(std::size_t index) const noexcept { return archive->entry(index); }
  };
  explicit Archive(std::unique_ptr<Parts> parts) noexcept;
  void check_own(const ArchiveEntry& entry) const;
  [[nodiscard]] Bytes bytes_at(std::size_t index) const;
  [[nodiscard]] Bytes part_at(std::size_t index, std::uint64_t offset, std::uint64_t length) const;

  std::unique_ptr<Parts> parts_;
};

/// Copies an entry to `buffer`, and compares the CRC-32 of the copy. Errors: usage.argument (the buffer's size is not
/// the entry's); zip.data.crc, io.changed, after which the buffer's content is not valid; as Archive::locate.
void read_entry(const Archive& archive, const ArchiveEntry& entry, std::span<std::byte> buffer);
bool read_entry(const Archive& archive, const ArchiveEntry& entry, std::span<std::byte> buffer,
                Failure& failure) noexcept;

/// Hands out the bytes of one entry of the archive at `path`, as Archive::copy. Errors: usage.no_such_entry; as
/// Archive::open and Archive::copy.
void cat(const std::filesystem::path& path, std::string_view entry_name, const ByteSink& sink);

/// Whether Archive::open accepts the file. False also for a broken or torn archive.
/// Errors: io.* (the file cannot be read), archive.busy. Cost: O(directory).
[[nodiscard]] bool is_archive(const std::filesystem::path& path);

/// Whether two archives have the same state: the same size, and the same bytes from the model's header to the end. This
/// part has the model, and the name, place and CRC-32 of every entry. Opening a path again and comparing tells whether
/// the file was edited or replaced since it was opened. Cost: O(directory + model); reads no weight.
[[nodiscard]] bool same_state(const Archive& a, const Archive& b) noexcept;

/// Whether the bytes begin or end as any zip file does. Functions of this library recognise formats by content, never
/// by file name.
[[nodiscard]] bool looks_like_zip(Bytes bytes) noexcept;

}  // namespace ONNXAR_API onnxar
