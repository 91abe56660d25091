// Editing an ONNX archive in place: another model, more weights, and no byte of the old ones touched.
//
// An edit appends to the file, so readers that have it mapped go on undisturbed; from the first byte appended to the
// last nobody can open it, and those who try are told so (archive.busy). Every earlier state is a prefix of the file:
// what an edit did can be undone, and what an interrupted one left can be cut off (spec/editing.md).
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

/// One edit of one archive, under an exclusive lock (flock) on the file from `open` to the end of the editor. Weights
/// are added, never taken away or moved: dropping a tensor means a model that does not refer to its entry; `pack` makes
/// an archive without it. Side files and graphs that lie after the last weight can be removed and replaced.
///
/// The edit is there when `commit` returns; an editor that fails or is destroyed before that cuts off what it had
/// appended. An archive of which no entry but the model, or none at all, stays where it is, is written anew and renamed
/// instead, as its first entry has to be at offset 0. Move-only. An editor that failed stays failed, and threads may
/// not meet in it: as ArchiveWriter has it, with `commit` for `finish`. `archive()` and `size_with` serve after a
/// failure, too.
class ArchiveEditor {
 public:
  /// Locks and opens the archive, waiting a second at most for others to be done. Nothing is written yet.
  /// Errors: archive.busy (somebody else edits it), archive.torn (see `recover`), usage.argument (a dry run), io.*,
  /// zip.*, archive.*.
  static ArchiveEditor open(const std::filesystem::path& path, const EditOptions& options = {});

  ArchiveEditor(ArchiveEditor&& other) noexcept;
  ArchiveEditor& operator=(ArchiveEditor&& other) noexcept;
  ArchiveEditor(const ArchiveEditor&) = delete;
  ArchiveEditor& operator=(const ArchiveEditor&) = delete;
  ~ArchiveEditor();

  /// The state before the edit; views of it outlive the editor only with a share of `owner()`.
  [[nodiscard]] const Archive& archive() const& noexcept;
  const Archive& archive() const&& = delete;

  /// The size of the file after adding these entries and a model of `model_size` bytes: what to reserve.
  /// Errors: archive.model.too_large.
  [[nodiscard]] std::uint64_t size_with(std::span<const std::pair<std::string_view, std::uint64_t>> names_and_sizes,
                                        std::uint64_t model_size) const;
  /// Sets disk room aside for a file of so many bytes in all, so that a full disk is noticed before anything is
  /// written. Errors: io.disk_full; io.failed (more than a file can hold).
  void reserve(std::uint64_t bytes);

  /// Takes an entry out: a side file, a further graph, or what no tensor names any more. With `add` of the same name it
  /// is replaced. Comes before the first `add`. The new directory does not list the entry, nor any that follows it:
  /// those that stay are appended again by `add` and `commit`, verified. The bytes of all stay in the file until it is
  /// repacked, and `undo` brings them back.
  /// Errors: usage.no_such_entry; usage.argument (the model; an entry that a tensor of the model or of a graph names,
  /// or after which one lies: it would move, which no edit does, and `pack` does; one beside a graph that cannot be
  /// read to its end, and may name anything: that graph goes first; after an `add`); as `entry_kinds`. Cost:
  /// O(directory + model + graphs) for the first one, O(1) for others; to append, the bytes of what follows.
  void remove(std::string_view name);
  /// How many entries, the first ones of `archive()`, stay where they are.
  [[nodiscard]] std::size_t kept_entries() const noexcept;

  /// Appends an entry, aligned as those that are there. The name must differ from theirs (also of entries that no
  /// tensor refers to), ASCII case aside. Errors: as ArchiveWriter::add.
  void add(std::string_view name, Bytes bytes);
  void add(std::string_view name, const FileRange& range);
  void add(std::string_view name, std::uint64_t size, const StreamReader& read);
  void add(std::string_view name, const ByteSource& source);

  /// Appends the model and a directory of all entries, which makes the edit count. Errors: archive.model.too_large,
  /// zip.limit.* (more than `open` would accept), io.*; with EditOptions::verify_model those of the model, as
  /// ArchiveWriter::finish, and usage.argument (another model, where a tensor of a graph that stays is in the bytes of
  /// the old one). Cost, with nothing added: O(model + graphs + directory), however large the weights are.
  void commit(Bytes model);
  void commit(const ByteSource& model);

 private:
  struct Parts;
  explicit ArchiveEditor(std::unique_ptr<Parts> parts) noexcept;

  std::unique_ptr<Parts> parts_;
};

/// Cuts off what edits of this process have appended so far, and has every later write of theirs fail. For handlers of
/// signals that end the process (SIGINT, SIGBUS where an input was shortened), which would else leave a torn archive:
/// makes system calls and nothing else, within some 20 ms. Edits whose end record is being written stand.
void abandon_edits() noexcept;

/// A state of an archive to which its file is, or would be, cut back.
struct EarlierState {
  std::uint64_t file_size = 0;  ///< bytes, before the cut
  std::uint64_t size = 0;       ///< bytes, after it; equal to `file_size` where there is nothing to cut
  std::uint64_t entries = 0;    ///< the model among them
  std::uint64_t model_size = 0;
  std::uint32_t model_crc32 = 0;
};

struct CutOptions {
  bool sync = true;
  bool dry_run = false;  ///< find the state, cut nothing
};

/// Cuts off what an interrupted edit left behind the last whole state: the longest prefix of the file that `check`
/// finds no error in, with the CRCs of what that state had added; in the first state, a CRC-32 that its writer began
/// anew (see RepackOptions::accept_crc) does not count against it. An archive that is whole stays as it is.
/// Waits and locks as ArchiveEditor. Readers that have the file mapped must not touch what was cut.
/// Errors: archive.busy; archive.unrecoverable (there is no such prefix); io.*. Cost: O(headers), and reading what the
/// state added.
EarlierState recover(const std::filesystem::path& path, const CutOptions& options = {});

/// Cuts off the last edit, which is then gone for good. The state before it must be whole, its model's CRC too.
/// Waits and locks as ArchiveEditor. Readers that have the file mapped must not touch what was cut.
/// Errors: usage.nothing_to_undo; archive.busy; archive.torn (an edit after it was interrupted: `recover` first);
/// archive.unrecoverable (the state before is damaged); io.*, zip.*, archive.*.
EarlierState undo(const std::filesystem::path& path, const CutOptions& options = {});

// --- repack.h ---
// Making an archive of a zip file, as zipalign does, and saying whether one is aligned.
//
// Entries are copied byte for byte, the model too. Only where an entry has to get another name is it looked up in the
// model whether a tensor refers to that entry.

struct RepackOptions {
  /// Of every entry, a power of two from 64 to 32768; entries of 1 MiB and more begin at a multiple of 4096 at least.
  /// Without it entries keep the alignment that is recorded for them, others get 64.
  std::optional<std::uint64_t> alignment = {};
  OutputOptions output = {};  ///< the output may be the input, with `overwrite`
  /// So many times the input's bytes become of it at most: compressed entries of a few bytes may hold gigabytes.
  std::uint64_t max_expansion = 8;
  /// Names of entries whose CRC-32 the input states wrongly and whose bytes are known to be right all the same: the
  /// output states the CRC-32 that they have. Every other entry is verified as ever.
  std::vector<std::string> accept_crc = {};
  std::vector<RenamedEntry> rename = {};  ///< entries that get other names; none that the model refers to
};

struct RepackReport {
  std::uint64_t entries = 0;      ///< in the archive, the model among them
  std::uint64_t input_bytes = 0;  ///< of the input file
  std::uint64_t file_bytes = 0;   ///< of the archive
  /// Notes: that the input was no archive, and what was left out. Warnings: which CRC-32 was accepted.
  std::vector<Finding> remarks;
};

/// Writes the entries of the zip file at `input` to an archive at `output`: stored, aligned, in the order in which they
/// lie in the input, the model last. The model is the entry `__MODEL_PROTO`, `__MODEL_PROTO.onnx` or the only `*.onnx`
/// in the root. Folders are dropped, and so are bytes that belong to no entry: superseded models of an edited archive,
/// comments, holes. Where the input is an archive of ours without such bytes, the output is the same file; repacking
/// twice gives what repacking once gave.
///
/// With `output.overwrite` an archive at `output` is locked against edits from before the input is read until it is
/// replaced. Every CRC-32 is verified on the way, except those of `accept_crc`; an input that changes meanwhile is
/// io.changed. The output appears whole or not at all. Memory: buffers, and some 200 bytes an entry; mapped or inflated
/// bytes go straight to the file, or stay in blocks that both files share, as with `convert`. Errors: io.*,
/// output.exists, archive.busy, usage.argument (the alignment; an entry of `accept_crc` whose CRC-32 is right already;
/// a name to be replaced that no entry has or that the model refers to), usage.no_such_entry (of `accept_crc`); zip.*
/// (entries that overlap, encryption, wrong CRCs, names that no archive may have, zip.limit.expansion, ...);
/// archive.model.missing (no model, more than one, one in a folder, or one whose links would have to be edited:
/// `convert` reads those), archive.model.too_large, archive.name.reserved; wire.*, onnx.* (the model, where entries get
/// other names).
RepackReport repack(const std::filesystem::path& input, const std::filesystem::path& output,
                    const RepackOptions& options = {});

/// Where the data of one entry begins.
struct EntryAlignment {
  enum class Kind : std::uint8_t { stored, compressed, folder };
  std::string name;
  std::uint64_t offset = 0;  ///< of the data, absolute
  std::uint64_t off_by = 0;  ///< bytes behind the last multiple of the alignment; 0 of what need not be aligned
  Kind kind = Kind::stored;
};

/// Whether the stored entries of any zip file at `path` begin at multiples of `alignment`, a power of two. Entries in
/// the order of the file. Data is not read. Errors: io.*, zip.*, usage.argument. Cost: O(entries).
[[nodiscard]] std::vector<EntryAlignment> check_alignment(const std::filesystem::path& path, std::uint64_t alignment);

}  // namespace ONNXAR_API onnxar
