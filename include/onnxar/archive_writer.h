// Writes an ONNX archive: first the weights, of any number and size, then the model. Edits one in place.
//
//   onnxar::ArchiveWriter writer = onnxar::ArchiveWriter::create("model.onnxar");
//   onnxar::KeyMaker keys;
//   const std::string key = keys.make(tensor_name);  // the location of the tensor's external data
//   writer.add(key, bytes);
//   writer.finish(model);  // a serialised ModelProto; the file appears now
//   onnxar::ArchiveEditor editor = onnxar::ArchiveEditor::open("model.onnxar");
//   editor.add(onnxar::KeyMaker(editor.archive()).make("new.weight"), bytes);
//   editor.commit(model);          // names old and new entries
//   onnxar::undo("model.onnxar");  // the state before it
//
// An edit only appends, so readers that have the file mapped are not disturbed. While it writes, the archive cannot be
// opened (archive.busy). Every earlier state is a prefix of the file (spec/editing.md). To save a whole model, see
// `pack` and ModelWriter (convert.h), and Model::save (model/model.h).
//
// Threads: calls are independent of each other; edits of one archive exclude each other by a lock. A writer or an
// editor takes one call at a time: a second call during the first, from another thread or from a source, throws
// usage.writer_busy, and both fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/options.h"

namespace ONNXAR_API onnxar {

struct WriterOptions {
  /// Of every entry, a power of two from 64 to 32768; entries of at least 1 MiB get at least 4096.
  std::uint64_t alignment = default_alignment;
  OutputOptions output = {};  ///< `dry_run` is usage.argument
  /// `finish` verifies that the model is a ModelProto, and that each link names a part of an entry with the length that
  /// type and dims require. Cost: O(fields of the model). Switch it off for a model that is known to be good.
  bool verify_model = true;
};

/// Names and sizes of entries, in bytes.
using EntrySizes = std::span<const std::pair<std::string_view, std::uint64_t>>;

/// Writes one archive, front to back, in bounded memory: a buffer of 1 MiB and about 100 bytes per entry. Owns the
/// file; move-only.
///
/// The order is: weights, side files, graphs, the model. An edit replaces and removes only what follows the last
/// weight, so after a graph `add` throws usage.argument, and `finish` refuses a side file before a weight: links tell
/// them apart, so only if it verifies the model. In an edit this is the order of the entries that the edit adds.
///
/// `finish` gives the complete, synced file its name. A reader never sees half an archive, and a writer that is
/// destroyed or killed leaves no file. Equal calls write equal bytes, at any time and on any machine.
///
/// A writer that failed stays failed: after any exception, every later call throws usage.writer_failed with the first
/// failure, and nothing is published. So a lost exception cannot lead to an archive with a missing entry. After
/// `finish`, every call throws usage.writer_finished.
class ArchiveWriter {
 public:
  /// Errors: output.exists, io.*, usage.argument (the alignment, a dry run).
  static ArchiveWriter create(const std::filesystem::path& target, const WriterOptions& options = {});

  /// Reserves disk space for an archive of `bytes` bytes: a full disk is noticed at once, and writing is faster.
  /// Errors: io.disk_full; io.failed (more than a file can hold).
  void reserve(std::uint64_t bytes);

  /// Adds an entry. `name` is its key: the location in a tensor's `external_data` (see KeyMaker). Errors: zip.name.*
  /// (such as names that differ only in case), archive.name.reserved, zip.limit.* (more than `open` takes by default),
  /// io.source_size (the source gives more or fewer bytes than its size), usage.argument (the order, above; an empty
  /// StreamReader, or one that returns more than the buffer holds), io.*; exceptions of a source pass through.
  void add(std::string_view name, Bytes bytes);
  void add(std::string_view name, const FileRange& range);
  /// The first `size` bytes of a stream, in pieces of at most 1 MiB. Later bytes are not read.
  void add(std::string_view name, std::uint64_t size, const StreamReader& read);
  void add(std::string_view name, const ByteSource& source);

  /// Adds an entry of `size` bytes that a producer pushes in pieces: `begin`, any number of calls of `write`, `end`.
  /// The file has the same bytes as with `add`. `payload_size` (tensor.h) computes the size from type and dims. A piece
  /// may be freed after its call; pieces of at least 1 MiB are the fastest. Between `begin` and `end` only `write` may
  /// be called. Throws what `add` throws; io.source_size (more or fewer bytes than `size`); usage.argument (another
  /// order of calls).
  void begin(std::string_view name, std::uint64_t size);
  void write(Bytes bytes);
  void end();

  /// Adds a further model, a serialised ModelProto over the same entries, as `NAME.onnx` (spec/graphs.md). `name` may
  /// lack `.onnx`. `finish` verifies it too. Errors: as `add`; usage.argument (a name that is empty, also after its
  /// last slash).
  void add_graph(std::string_view name, Bytes model);
  void add_graph(std::string_view name, const ByteSource& model);

  /// Writes the model and the directory, and publishes the file. Errors: as `add`; archive.model.too_large;
  /// output.exists; with WriterOptions::verify_model also usage.argument (the order, above), wire.*,
  /// onnx.model.invalid, onnx.external_data.* (.missing: the location is not an entry; .marker: it is memory of a
  /// process) and onnx.tensor.*, naming the tensor.
  void finish(Bytes model);
  void finish(const ByteSource& model);

 private:
  struct Parts;
  explicit ArchiveWriter(detail::Owned<Parts> parts) noexcept;

  detail::Owned<Parts> parts_;
};

/// Makes keys for tensor names: C identifiers that differ by more than ASCII case. Bytes outside [A-Za-z0-9_] become
/// `_`, and repeated keys get `_2`, `_3`, ... in the order of the calls. Move-only; not synchronised.
class KeyMaker {
 public:
  KeyMaker();
  /// Reserves the names of all entries of this archive, which is edited, of its model, and of its file. Throws wire.*.
  /// Cost: O(entries).
  explicit KeyMaker(const Archive& archive);
  /// Excludes the name of an entry from the keys that `make` returns. A key has no slash, so it can clash with the
  /// first folder of a name, and be hidden by its last part from a graph in that folder: `extra/a.txt` excludes `extra`
  /// and `a.txt` (W12).
  void reserve(std::string_view name);
  /// A new key for a tensor of this name.
  [[nodiscard]] std::string make(std::string_view tensor_name);

 private:
  struct Parts;
  detail::Owned<Parts> parts_;
};

/// The size of an archive with these entries, in this order, and a model of `model_size` bytes: what to reserve.
/// Errors: usage.argument (the alignment; more than 2^60 bytes, which is beyond any file system); zip.limit.*.
[[nodiscard]] std::uint64_t archive_size(EntrySizes entries, std::uint64_t model_size,
                                         std::uint64_t alignment = default_alignment);

// --- Editing ---------------------------------------------------------------------------------------------------------

struct EditOptions {
  OutputOptions output = {};  ///< `overwrite` does not apply; with `dry_run` the editor only plans
  OpenOptions open = {};      ///< limits of the archive before and after
  bool verify_model = true;   ///< as in WriterOptions, by `commit`
};

/// One edit of one archive. Holds an exclusive lock (flock) on the file until it is destroyed. Move-only.
/// Weights are added, never removed or moved. To drop a tensor, commit a model that does not name its entry, and `pack`
/// the archive to leave the entry out. Side files and graphs after the last weight can be removed and replaced.
///
/// `commit` syncs before and after the end record, which makes the edit count: an error of the last sync says that the
/// edit stands. An editor that fails or is destroyed before cuts off what it appended. If no entry stays in place
/// (`kept_entries` is 0), the archive is rewritten and renamed, since its first entry is at offset 0: then `undo`
/// cannot lead back. Failures are as for ArchiveWriter; `archive()` and `size_with` also work after a failure.
class ArchiveEditor {
 public:
  /// Locks and opens the archive, compares the CRC-32 of its model, and writes nothing. A damaged model is not
  /// replaced: the new one may be made from it, and would pass for undamaged. Waits at most one second for another
  /// edit. With `output.dry_run` the file is only read, and locked if the file system has locks: `remove`,
  /// `kept_entries` and `size_with` plan an edit, other members throw usage.argument. Errors: archive.* (.busy: an edit
  /// is in progress; .torn: see `recover`), io.*, zip.* (.data.crc: of the model); usage.own_name (an entry has the
  /// name of the file). Cost: O(directory + bytes of the model).
  static ArchiveEditor open(const std::filesystem::path& path, const EditOptions& options = {});

  /// Before the edit. Its views outlive the editor only with a share of `owner()`.
  [[nodiscard]] const Archive& archive() const& noexcept;
  const Archive& archive() const&& = delete;

  /// The size of the file with these entries and a model of `model_size` bytes added. Proves their names, also against
  /// each other, before anything is written. Errors: as `add` and `commit`.
  [[nodiscard]] std::uint64_t size_with(EntrySizes entries, std::uint64_t model_size) const;
  /// As ArchiveWriter::reserve, for a file of `bytes` in all.
  void reserve(std::uint64_t bytes);

  /// Removes a side file, a graph, or an entry that tensors no longer name; to replace it, then `add` the same name.
  /// Comes before `reserve` and the first `add`. Entries after it that stay are verified and appended again. All bytes
  /// stay in the file until it is repacked, so `undo` brings them back. Errors: usage.no_such_entry; usage.argument
  /// (the model; an entry that a tensor names, or one before such an entry, which would have to move: use `pack`; any
  /// entry while a graph that is damaged or cannot be read may name it: remove all such graphs first, or the next call
  /// throws; a call too late); wire.*, onnx.*. Cost: O(directory + model + graphs) for the first call, then O(1);
  /// `commit` copies the entries that follow.
  void remove(std::string_view name);
  /// The number of entries that stay where they are: the first of `archive()`.
  [[nodiscard]] std::size_t kept_entries() const noexcept;

  /// Appends an entry, aligned as the existing ones. Its name must differ from all others, also unused ones, and from
  /// the file's, by more than case. Errors: as ArchiveWriter::add; usage.own_name.
  void add(std::string_view name, Bytes bytes);
  void add(std::string_view name, const FileRange& range);
  void add(std::string_view name, std::uint64_t size, const StreamReader& read);
  void add(std::string_view name, const ByteSource& source);
  /// As ArchiveWriter::begin.
  void begin(std::string_view name, std::uint64_t size);
  void write(Bytes bytes);
  void end();
  /// Appends a further graph, as ArchiveWriter::add_graph, whose tensors may name entries of the archive and added
  /// ones. To replace a graph, `remove` it before. Errors: as `add`, also usage.argument.
  void add_graph(std::string_view name, Bytes model);
  void add_graph(std::string_view name, const ByteSource& model);

  /// Appends the model and the directory. Errors: as ArchiveWriter::finish; io.changed (the path leads to another
  /// file now, or to none); usage.argument (whatever `verify_model` says: a graph that stays has a tensor in the bytes
  /// of the old model). Cost without added entries: O(model + graphs + directory).
  void commit(Bytes model);
  void commit(const ByteSource& model);

 private:
  friend class EditAccess;
  struct Parts;
  explicit ArchiveEditor(detail::Owned<Parts> parts) noexcept;

  detail::Owned<Parts> parts_;
};

/// A state of an archive, to which its file is, or would be, cut back.
struct EarlierState {
  std::uint64_t file_size = 0;  ///< bytes, before the cut
  std::uint64_t size = 0;       ///< bytes, after it; equal to `file_size` if nothing is cut
  std::uint64_t entries = 0;    ///< including the model
  std::uint64_t model_size = 0;
  std::uint32_t model_crc32 = 0;
};

/// Cuts off the last edit for good. The state before it must be whole, and its model's CRC-32 right. Waits and locks as
/// ArchiveEditor. Readers that have the file mapped must not touch the bytes that were cut off. Of `options`, only
/// `sync` and `dry_run` apply.
/// Errors: usage.nothing_to_undo (also after an edit that rewrote the archive); archive.* (.torn: a later edit was
/// interrupted, `recover` first; .unrecoverable: the state before is damaged); io.*, zip.*.
EarlierState undo(const std::filesystem::path& path, const OutputOptions& options = {});

/// Cuts off what an interrupted edit left. The last whole state is the longest prefix of the file in which `check`
/// finds no error, nor in the CRC-32s of the entries that the state added. A whole archive stays as it is. Edits that
/// are complete but damaged are cut off only with `overwrite`. Otherwise as `undo`. Errors: archive.* (.unrecoverable:
/// no such prefix, or a complete edit would be lost); io.*. Cost: O(headers), and reading these entries and what is
/// cut.
EarlierState recover(const std::filesystem::path& path, const OutputOptions& options = {});

// --- Any zip file ----------------------------------------------------------------------------------------------------

struct RepackOptions {
  std::optional<std::uint64_t> alignment = {};      ///< as in WriterOptions; absent: as recorded, 64 without a record
  OutputOptions output = {};                        ///< with `overwrite`, the output may be the input
  std::uint64_t max_expansion = default_expansion;  ///< a compressed entry of a few bytes may hold gigabytes
  std::vector<RenamedEntry> rename = {};            ///< entries that the model does not name
  ProgressCallback progress = {};                   ///< bytes of entries that are written
};

struct RepackReport {
  std::uint64_t entries = 0;      ///< including the model
  std::uint64_t input_bytes = 0;  ///< of the input file
  std::uint64_t file_bytes = 0;   ///< of the archive
  std::vector<Finding> remarks;   ///< the input was not an archive; parts were left out
};

/// Makes an archive of a zip file, as zipalign does: entries stored, aligned, byte for byte and in the order of the
/// input's data, the model last. The model is the entry `__MODEL_PROTO`, `__MODEL_PROTO.onnx`, or the only `*.onnx` in
/// the root; it is read only to prove its name, and that no tensor names a renamed entry. If the input is not an
/// archive, other `*.onnx` are proved as graphs, but not their checksums. Folders go, and bytes outside the
/// entries: superseded models of an edited archive, comments, holes. Repacking again changes nothing.
///
/// Every CRC-32 is verified. Locks, changing inputs, shared blocks: as `pack`. Memory: buffers, 200 bytes per entry;
/// for new names, names of the model, and `__MACOSX/`, also the models.
///
/// Errors: io.*, output.exists, zip.*; archive.* (.model.missing: no model, several, one in a folder, or one whose
/// links would change, which `pack` reads); usage.argument (the alignment; a new name for an entry that does not exist
/// or that the model names); wire.*, onnx.* (of graphs, or with new names).
RepackReport repack(const std::filesystem::path& input, const std::filesystem::path& output,
                    const RepackOptions& options = {});

}  // namespace ONNXAR_API onnxar
