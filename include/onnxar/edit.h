// Changes of existing archives: editing one in place, undoing an edit, and making an archive of any zip file.
//
// An edit replaces the model and adds weights, and changes no byte of the old ones. It appends to the file, so readers
// that have the file mapped are not disturbed. From the first appended byte to the last, the archive cannot be opened
// (archive.busy). Every earlier state is a prefix of the file: `undo` removes the last edit, and `recover` removes
// an interrupted one (spec/editing.md). `repack` writes a new archive: it aligns the entries of a zip file.
//
// Threads: calls are independent of each other; edits of one archive exclude each other by a lock. An ArchiveEditor
// takes one call at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

struct EditOptions {
  /// With `sync`, `commit` syncs before it writes the end record, which makes the edit count, and after. `overwrite`
  /// does not apply. With `dry_run` the editor only plans.
  OutputOptions output = {};
  OpenOptions open = {};  ///< limits of the archive before and after
  /// As WriterOptions::verify_model, by `commit`: links lead to the entries that were there and to those that were
  /// added.
  bool verify_model = true;
};

/// One edit of one archive. Holds an exclusive lock (flock) on the file from `open` until it is destroyed. Weights are
/// added, never removed or moved: to drop a tensor, commit a model that does not name its entry, and `pack` the archive
/// to leave the entry out. Side files and graphs after the last weight can be removed and replaced.
///
/// The edit is complete when `commit` returns. An editor that fails or is destroyed before that cuts off what it
/// appended. If no entry except the model stays where it is, the archive is written anew and renamed, since its first
/// entry has to be at offset 0. Move-only. Failures and threads are as for ArchiveWriter, with `commit` for `finish`.
/// `archive()` and `size_with` also work after a failure.
class ArchiveEditor {
 public:
  /// Locks and opens the archive, and writes nothing. Waits at most one second for a different edit to end. Errors:
  /// archive.busy (an edit is in progress), archive.torn (see `recover`), io.*, zip.*, archive.*. With `output.dry_run`
  /// the file is opened for reading and locked against edits by others, if the file system has locks: `remove`,
  /// `kept_entries` and `size_with` plan an edit, and `reserve`, `add` and `commit` throw usage.argument.
  static ArchiveEditor open(const std::filesystem::path& path, const EditOptions& options = {});

  ArchiveEditor(ArchiveEditor&& other) noexcept;
  ArchiveEditor& operator=(ArchiveEditor&& other) noexcept;
  ArchiveEditor(const ArchiveEditor&) = delete;
  ArchiveEditor& operator=(const ArchiveEditor&) = delete;
  ~ArchiveEditor();

  /// The state before the edit. Views of it outlive the editor only with a share of `owner()`.
  [[nodiscard]] const Archive& archive() const& noexcept;
  const Archive& archive() const&& = delete;

  /// The size of the file with these entries and a model of `model_size` bytes added: what to reserve.
  /// Errors: archive.model.too_large.
  [[nodiscard]] std::uint64_t size_with(std::span<const std::pair<std::string_view, std::uint64_t>> names_and_sizes,
                                        std::uint64_t model_size) const;
  /// Reserves disk space for a file of `bytes` in all, so that a full disk is noticed before anything is written.
  /// Errors: io.disk_full; io.failed (more than a file can hold).
  void reserve(std::uint64_t bytes);

  /// Removes an entry: a side file, a further graph, or an entry that tensors no longer name. `add` of the same name
  /// replaces it. Call it before the first `add`. The new directory lists neither the entry nor those after it; `add`
  /// and `commit` verify the entries after it that stay, and append them again. All bytes stay in the file until it is
  /// repacked, and `undo` brings them back.
  /// Errors: usage.no_such_entry; usage.argument (the model; an entry that a tensor of the model or of a graph names;
  /// an entry before such an entry, which would have to move: use `pack`; any entry while a graph cannot be read to its
  /// end, since that graph may name it: remove the graph first; a call after `add`); as `entry_kinds`.
  /// Cost: O(directory + model + graphs) for the first call, O(1) for others; `commit` copies the entries that follow.
  void remove(std::string_view name);
  /// The number of entries that stay where they are: the first ones of `archive()`.
  [[nodiscard]] std::size_t kept_entries() const noexcept;

  /// Appends an entry, aligned as the existing ones. Its name must differ by more than ASCII case from the names of
  /// all entries, unused ones included. Errors: as ArchiveWriter::add.
  void add(std::string_view name, Bytes bytes);
  void add(std::string_view name, const FileRange& range);
  void add(std::string_view name, std::uint64_t size, const StreamReader& read);
  void add(std::string_view name, const ByteSource& source);

  /// Appends the model and a directory of all entries, which completes the edit. Errors: archive.model.too_large,
  /// zip.limit.* (more than `open` accepts), io.*; with EditOptions::verify_model those of the model, as for
  /// ArchiveWriter::finish, and usage.argument (a graph that stays has a tensor in the bytes of the old model). Cost
  /// without added entries: O(model + graphs + directory), independent of the size of the weights.
  void commit(Bytes model);
  void commit(const ByteSource& model);

 private:
  struct Parts;
  explicit ArchiveEditor(std::unique_ptr<Parts> parts) noexcept;

  std::unique_ptr<Parts> parts_;
};

// --- Earlier states --------------------------------------------------------------------------------------------------

/// The state of an archive to which its file is, or would be, cut back.
struct EarlierState {
  std::uint64_t file_size = 0;  ///< bytes, before the cut
  std::uint64_t size = 0;       ///< bytes, after it; equal to `file_size` if nothing is cut
  std::uint64_t entries = 0;    ///< including the model
  std::uint64_t model_size = 0;
  std::uint32_t model_crc32 = 0;
};

struct CutOptions {
  bool sync = true;
  bool dry_run = false;  ///< find the state, and cut nothing
};

/// Cuts off the last edit for good. The state before it must be whole, and its model must have the right CRC-32.
/// Waits and locks as ArchiveEditor. Readers that have the file mapped must not touch the bytes that were cut off.
///
/// Errors: usage.nothing_to_undo; archive.busy; archive.torn (an edit after it was interrupted: `recover` first);
/// archive.unrecoverable (the state before is damaged); io.*, zip.*, archive.*.
EarlierState undo(const std::filesystem::path& path, const CutOptions& options = {});

/// Cuts off the bytes that an interrupted edit left after the last whole state. That state is the longest prefix of the
/// file in which `check` finds no error, also not in the CRC-32s of the entries that the state added. A whole
/// archive stays as it is. Waits and locks as ArchiveEditor. Readers that have the file mapped must not touch the bytes
/// that were cut off.
///
/// Errors: archive.busy; archive.unrecoverable (no such prefix); io.*. Cost: O(headers), and reading the entries that
/// the state added.
EarlierState recover(const std::filesystem::path& path, const CutOptions& options = {});

// --- Any zip file ----------------------------------------------------------------------------------------------------

struct RepackOptions {
  /// The alignment of every entry, a power of two from 64 to 32768; entries of at least 1 MiB begin at a multiple of
  /// 4096 or more. Absent: entries keep their recorded alignment, and get 64 without a record.
  std::optional<std::uint64_t> alignment = {};
  OutputOptions output = {};  ///< the output may be the input, with `overwrite`
  /// The output is at most this many times as large as the input: a compressed entry of a few bytes may hold gigabytes.
  std::uint64_t max_expansion = default_expansion;
  std::vector<RenamedEntry> rename = {};  ///< new names for entries that the model does not name
  ProgressCallback progress = {};         ///< counts the bytes of entries that are written
};

struct RepackReport {
  std::uint64_t entries = 0;      ///< in the archive, including the model
  std::uint64_t input_bytes = 0;  ///< of the input file
  std::uint64_t file_bytes = 0;   ///< of the archive
  /// Notes: the input was not an archive; parts were left out.
  std::vector<Finding> remarks;
};

/// Writes the entries of the zip file at `input` to an archive at `output`, as zipalign does: stored, aligned, byte for
/// byte and in the order of the input's data, the model last. The model is the entry `__MODEL_PROTO`,
/// `__MODEL_PROTO.onnx`, or the only `*.onnx` in the root. It is read only if entries get other names, to verify
/// that no tensor names them. Folders are dropped, and so are bytes outside the entries: superseded models of an
/// edited archive, comments, holes. An archive that this library wrote, without such bytes, gives the same file.
/// Repacking twice gives the same file as repacking once.
///
/// With `output.overwrite`, an archive at `output` is locked against edits from before the input is read until it is
/// replaced. Every CRC-32 is verified; an input that changes during the call is io.changed. The output appears only
/// when it is complete. Memory: buffers, and about 200 bytes per entry. Mapped and inflated bytes go straight to the
/// file, or stay in blocks that both files share, as for `pack`.
///
/// Errors:
/// - io.*, output.exists, archive.busy
/// - usage.argument: the alignment; a new name for an entry that does not exist or that the model names
/// - zip.*: entries that overlap, encryption, wrong CRCs, names that an archive may not have, zip.limit.expansion, ...
/// - archive.model.missing: no model, more than one, one in a folder, or one whose links would have to be edited
///   (`pack` reads those); archive.model.too_large; archive.name.reserved
/// - wire.*, onnx.*: the model, if entries get other names
RepackReport repack(const std::filesystem::path& input, const std::filesystem::path& output,
                    const RepackOptions& options = {});

/// Where the data of one entry begins.
struct EntryAlignment {
  enum class Kind : std::uint8_t { stored, compressed, folder };
  std::string name;
  std::uint64_t offset = 0;  ///< of the data, absolute
  std::uint64_t off_by = 0;  ///< bytes after the last multiple of the alignment; 0 if the entry need not be aligned
  Kind kind = Kind::stored;
};

/// Tells where the stored entries of any zip file begin, against multiples of `alignment`, a power of two. Gives all
/// entries in the order of the file, and reads no data. Errors: io.*, zip.*, usage.argument. Cost: O(entries).
[[nodiscard]] std::vector<EntryAlignment> check_alignment(const std::filesystem::path& path, std::uint64_t alignment);

// --- Signals ---------------------------------------------------------------------------------------------------------

/// Cuts off what the edits of this process have appended so far, and makes their later writes fail. For handlers of
/// signals that end the process (SIGINT, or SIGBUS after an input was shortened), which would otherwise leave a torn
/// archive. Async-signal-safe: makes only system calls. Waits for writes that other threads have begun, 2 s at most. An
/// edit that is writing its end record is not cut off.
void abandon_edits() noexcept;

/// The path of the file that a mapping of this library has at `address`, as `escaped_path` writes it; empty if there is
/// none, or if more than 1024 files were mapped before it. For handlers of SIGBUS, and of EXCEPTION_IN_PAGE_ERROR on
/// Windows: the address of the fault lies in a file that was shortened, or whose disk failed. Async-signal-safe. The
/// text is valid as long as the mapping.
[[nodiscard]] std::string_view mapped_file_at(const void* address) noexcept;

}  // namespace ONNXAR_API onnxar
