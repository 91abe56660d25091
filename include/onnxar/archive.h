// Reads an ONNX archive: open it, find an entry, use its bytes in place.
//
//   const onnxar::Archive archive = onnxar::Archive::open("model.onnxar");
//   for (const onnxar::ArchiveEntry& entry : archive.entries()) use(entry.name, archive.bytes(entry));
//
// An archive is a zip file whose entries are stored and aligned; the last entry is the model (spec/README.md). Opening
// maps the file and verifies the directory; it reads no weight. tensors.h lists all calls that return a tensor's bytes.
// Programs without exceptions use the C interface (onnxar_c.h) or the reader in two files (reader/).
#pragma once

#include <compare>
#include <iterator>

#include "onnxar/bytes.h"

namespace ONNXAR_API onnxar {

/// The entry that holds the ModelProto.
inline constexpr std::string_view model_entry_name = "__MODEL_PROTO";

/// The size of the longest ModelProto, in bytes: protobuf counts the bytes of a message in 31 bits.
inline constexpr std::uint64_t model_size_maximum = (1ULL << 31U) - 1;

struct OpenOptions {
  std::uint64_t max_entries = 1ULL << 20U;
  std::uint64_t max_directory_size = 256ULL << 20U;   ///< bytes
  std::uint64_t max_model_size = model_size_maximum;  ///< bytes; at most this constant
  Prefetch prefetch = Prefetch::none;                 ///< of the whole file, after the directory is verified
  /// Reads the file into memory instead of mapping it: for slow network file systems, and files that others may
  /// shorten.
  bool copy_in = false;
  std::size_t threads = 0;  ///< for copy_in; 0: one for each core
};

/// An archive that is embedded in an open file.
struct DescriptorRange {
  /// A regular file, open for reading; on Windows without FILE_FLAG_OVERLAPPED.
  NativeHandle descriptor = NativeHandle(std::intptr_t{-1});
  std::uint64_t offset = 0;                  ///< bytes, a multiple of 64
  std::optional<std::uint64_t> length = {};  ///< bytes; absent: to the end of the file
};

/// One entry, as the directory describes it. `name` is valid as long as the Archive. Functions throw
/// usage.foreign_entry for an entry that was filled in by hand or comes from another archive.
struct ArchiveEntry {
  std::size_t index = 0;
  std::string_view name;
  std::uint64_t size = 0;           ///< bytes
  std::uint64_t header_offset = 0;  ///< of the local file header
  std::uint32_t crc32 = 0;
};

struct EntryLocation {
  std::uint64_t offset = 0;     ///< of the first byte
  std::uint64_t alignment = 0;  ///< the recorded one, or else 64; divides `offset`
};

class Archive;

namespace detail {
/// A random-access iterator over the entries of an archive, which it does not keep.
class EntryIterator {
 public:
  using value_type = ArchiveEntry;
  using reference = ArchiveEntry;
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::input_iterator_tag;  // C++17 asks forward iterators for real references

  EntryIterator() = default;
  EntryIterator(const Archive* archive, difference_type index) : archive_(archive), index_(index) {}

  reference operator*() const noexcept;
  reference operator[](difference_type n) const noexcept { return *(*this + n); }
  EntryIterator& operator+=(difference_type n) {
    index_ += n;
    return *this;
  }
  EntryIterator& operator-=(difference_type n) { return *this += -n; }
  EntryIterator& operator++() { return *this += 1; }
  EntryIterator& operator--() { return *this += -1; }
  EntryIterator operator++(int) { return std::exchange(*this, *this + 1); }
  EntryIterator operator--(int) { return std::exchange(*this, *this - 1); }
  friend EntryIterator operator+(EntryIterator it, difference_type n) { return it += n; }
  friend EntryIterator operator+(difference_type n, EntryIterator it) { return it += n; }
  friend EntryIterator operator-(EntryIterator it, difference_type n) { return it -= n; }
  friend difference_type operator-(const EntryIterator& a, const EntryIterator& b) { return a.index_ - b.index_; }
  auto operator<=>(const EntryIterator&) const = default;

 private:
  const Archive* archive_ = nullptr;
  difference_type index_ = 0;
};
}  // namespace detail

/// An open archive. Owns its mapping together with the shares from `owner()`. Move-only. Offsets, also those in errors,
/// count from the archive's first byte.
///
/// | change of the file     | effect on views                                                           |
/// |------------------------|---------------------------------------------------------------------------|
/// | removed, renamed over  | none: the system keeps the old file until the mapping is gone             |
/// | edited by this library | none: an edit only appends; but `undo` shortens the file                  |
/// | shortened in place     | access to the lost bytes raises SIGBUS: ends the process unless handled   |
/// | overwritten in place   | the bytes change under the reader                                         |
///
/// A mapping cannot prevent the last two effects: publish files by renaming them, or open with OpenOptions::copy_in.
/// `verify`, `copy`, `read_entry` and `check` compare CRC-32s; `open` and `bytes` do not. Threads: const members may be
/// called concurrently.
class Archive {
 public:
  /// Opens a file. In memory, data is aligned as recorded, up to 4096 bytes; with copy_in, to any recorded alignment.
  /// Throws io.* (.address_space: too large for a 32-bit host), zip.*, archive.* (.busy: another process is editing the
  /// file, try again; .torn: an edit was interrupted, see `recover`). Cost: O(directory), 100 to 200 ns per entry.
  static Archive open(const std::filesystem::path& path, const OpenOptions& options = {});
  /// Opens a part of an open file. The descriptor is borrowed: its position does not move, and it may be closed after
  /// the call. Locks are not checked, so a file that is being edited fails with zip.*. In memory, an entry is aligned
  /// to the smallest of 4096, its recorded alignment, and the largest power of two that divides `range.offset`; with
  /// copy_in, to its recorded alignment. Throws what the overload for a path throws; usage.argument (an offset that is
  /// not a multiple of 64, a part beyond the file).
  static Archive open(const DescriptorRange& range, const OpenOptions& options = {});
  /// Opens bytes in memory, which `owner` keeps alive. If `owner` is null, the caller keeps them alive longer than the
  /// Archive and all its views. Data is aligned as recorded only if `bytes` begin on a page.
  static Archive open(Bytes bytes, std::shared_ptr<const void> owner, const OpenOptions& options = {});
  template <TemporaryContainer T>
  static Archive open(T&& bytes, std::shared_ptr<const void> owner, const OpenOptions& options = {}) = delete;
  /// Reads the file in ranges: the end and the directory first, entries when they are used. `bytes`, `model` and
  /// `resolve` keep what they read, `copy` and `verify` do not. Prefetch::populate reads everything; `copy_in` has no
  /// effect. Costs (constant time, no allocation) hold only for bytes that were already read. All members also throw
  /// the errors of `file`.
  static Archive open(std::shared_ptr<const RandomAccess> file, const OpenOptions& options = {});

  [[nodiscard]] std::size_t size() const noexcept;
  /// Returns an entry, in the order of the file; the last one is the model. REQUIRES: index < size().
  [[nodiscard]] ArchiveEntry entry(std::size_t index) const& noexcept;
  ArchiveEntry entry(std::size_t index) const&& = delete;
  /// Returns all entries as a random-access range, in the order of the file. Valid until the Archive is moved or
  /// destroyed.
  [[nodiscard]] auto entries() const& noexcept {
    using Iterator = detail::EntryIterator;
    return std::ranges::subrange(Iterator(this, 0), Iterator(this, static_cast<std::ptrdiff_t>(size())));
  }
  void entries() const&& = delete;
  /// Returns the entry of this name; absent if there is none. Cost: O(1), no allocation.
  [[nodiscard]] std::optional<ArchiveEntry> find(std::string_view name) const& noexcept;
  std::optional<ArchiveEntry> find(std::string_view name) const&& = delete;

  /// Returns where the entry's bytes are. Verifies its local header. Throws zip.*; usage.foreign_entry.
  [[nodiscard]] EntryLocation locate(const ArchiveEntry& entry) const;
  /// Returns the entry's bytes as a view of the mapping. The first call for an entry verifies its local header; later
  /// calls cost a load and an addition. Throws what `locate` throws.
  [[nodiscard]] Bytes bytes(const ArchiveEntry& entry) const&;
  Bytes bytes(const ArchiveEntry& entry) const&& = delete;

  /// Reads an entry, or any bytes of this archive, before it is used (see Prefetch). Has no effect without a mapping.
  /// Throws what `bytes` throws; usage.argument (bytes outside the archive); io.failed (the file was shortened, or
  /// cannot be read).
  void prefetch(const ArchiveEntry& entry, Prefetch how) const;
  void prefetch(Bytes bytes, Prefetch how) const;
  /// Reads several entries before they are used. With range reading, `populate` reads all of them at once.
  void prefetch(std::span<const ArchiveEntry> entries, Prefetch how) const;

  /// Passes copies of the bytes to `sink` in pieces, and compares their CRC-32 after the last piece. Use it for files
  /// that others may edit, where the bytes could change between `verify` and `bytes`. Throws zip.data.crc; io.changed
  /// (the file changed during the call; try again); usage.argument (an empty sink); what `locate` throws; exceptions of
  /// `sink` pass through.
  void copy(const ArchiveEntry& entry, const ByteSink& sink) const;
  /// Reads all bytes of the entry and compares their CRC-32. Throws zip.data.crc; what `locate` throws.
  void verify(const ArchiveEntry& entry) const;

  /// Returns the additional graphs: entries `NAME.onnx`, in any folder, each a ModelProto over the entries of the
  /// archive (spec/graphs.md), in the order of the file. Valid as long as the archive. Cost: O(entries).
  [[nodiscard]] std::vector<ArchiveEntry> graphs() const&;
  std::vector<ArchiveEntry> graphs() const&& = delete;
  /// Returns a view of the archive whose `model()` is the named graph. `name` may lack `.onnx`. For `__MODEL_PROTO` and
  /// the model's own name (`onnxar.model.name`), returns the archive itself. The result shares the mapping, and may
  /// outlive this archive. Throws usage.no_such_entry; wire.*. Cost: O(fields of ModelProto itself).
  [[nodiscard]] Archive graph(std::string_view name) const;
  /// Returns the entry of `model()`.
  [[nodiscard]] ArchiveEntry model_entry() const& noexcept;
  ArchiveEntry model_entry() const&& = delete;
  /// Returns the serialised ModelProto. Throws what `bytes` throws, as do all functions that read the model.
  [[nodiscard]] Bytes model() const&;
  Bytes model() const&& = delete;

  /// Returns the bytes that a tensor's `external_data` names: `length` bytes at `offset` in the entry `location`;
  /// without a `length`, all bytes from `offset` on. Throws onnx.external_data.missing, .out_of_range; what `bytes`
  /// throws. Cost: below 100 ns, no allocation.
  [[nodiscard]] Bytes resolve(std::string_view location, std::uint64_t offset = 0,
                              std::optional<std::uint64_t> length = std::nullopt) const&;
  Bytes resolve(std::string_view location, std::uint64_t offset = 0,
                std::optional<std::uint64_t> length = std::nullopt) const&& = delete;

  /// Returns a share in the mapping: views stay valid while a copy of this pointer exists, even after the Archive is
  /// destroyed. Null for bytes that were opened without an owner.
  [[nodiscard]] const std::shared_ptr<const void>& owner() const& noexcept;
  [[nodiscard]] std::shared_ptr<const void> owner() const&& noexcept { return owner(); }
  /// Returns the bytes of the whole archive. With range reading, access only bytes that were read.
  [[nodiscard]] Bytes file() const& noexcept;
  Bytes file() const&& = delete;
  /// Returns the path as opened, or RandomAccess::name; empty for descriptors and memory.
  [[nodiscard]] const std::filesystem::path& path() const& noexcept;
  [[nodiscard]] std::filesystem::path path() const&& { return path(); }

 private:
  friend class ArchiveAccess;
  struct Parts;
  explicit Archive(detail::Owned<Parts> parts) noexcept;
  void check_own(const ArchiveEntry& entry) const;
  [[nodiscard]] Bytes bytes_at(std::size_t index) const;
  [[nodiscard]] Bytes part_at(std::size_t index, std::uint64_t offset, std::uint64_t length) const;

  detail::Owned<Parts> parts_;
};

/// Copies an entry to `buffer` and compares the CRC-32 of the copy. Throws what Archive::copy throws; the buffer's
/// contents are then undefined. Throws usage.argument if the buffer does not have the entry's size.
void read_entry(const Archive& archive, const ArchiveEntry& entry, std::span<std::byte> buffer);

/// Calls Archive::copy for an entry of the archive at `path`. Also throws usage.no_such_entry and what Archive::open
/// throws.
void cat(const std::filesystem::path& path, std::string_view entry_name, const ByteSink& sink);

/// True if Archive::open accepts the file; false also for a broken or torn archive. Throws io.*, archive.busy. Cost:
/// O(directory).
[[nodiscard]] bool is_archive(const std::filesystem::path& path);

/// True if two archives have the same size, and the same bytes from the model's header to the end. These bytes include
/// the name, offset and CRC-32 of every entry. To find out if a file was edited or replaced, open its path again and
/// compare. Cost: O(directory + model); reads no weight.
[[nodiscard]] bool same_state(const Archive& a, const Archive& b) noexcept;

/// True if the bytes begin or end like a zip file. This library recognises formats by content, never by file name.
[[nodiscard]] bool looks_like_zip(Bytes bytes) noexcept;

}  // namespace ONNXAR_API onnxar
