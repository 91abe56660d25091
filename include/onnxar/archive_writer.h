// Writes an ONNX archive: first the weights, of any number and size, then the model. Edits an archive in place.
//
//   onnxar::ArchiveWriter writer = onnxar::ArchiveWriter::create("model.onnxar");
//   onnxar::KeyMaker keys;
//   const std::string key = keys.make(tensor_name);  // the location of the tensor's external data
//   writer.add(key, bytes);
//   writer.finish(model);  // a serialised ModelProto; the file appears now
//   onnxar::ArchiveEditor editor = onnxar::ArchiveEditor::open("model.onnxar");
//   editor.add(onnxar::KeyMaker(editor.archive()).make("new.weight"), bytes);
//   editor.commit(model);          // names old and new entries
//   onnxar::undo("model.onnxar");  // goes back to the state before the edit
//
// An edit only appends, so readers that have the file mapped are not disturbed. While it writes, the archive cannot be
// opened (archive.busy). Every earlier state is a prefix of the file (spec/editing.md). To save a whole model, see
// `pack` (convert.h), ModelWriter (model_stream.h) and Model::save (model/model.h).
//
// Threads: calls are independent of each other; a lock prevents two edits of one archive at the same time. A writer or
// an editor takes one call at a time: a second call during the first, from another thread or from a source, throws
// usage.writer_busy, and both fail.
#pragma once

#include "onnxar/archive.h"
#include "onnxar/options.h"

namespace ONNXAR_API onnxar {

struct WriterOptions {
  /// The alignment of every entry: a power of two from 64 to 32768. Entries of at least 1 MiB get at least 4096.
  std::uint64_t alignment = default_alignment;
  OutputOptions output = {};  ///< `dry_run` throws usage.argument
  /// Makes `finish` verify that the model is a ModelProto, and that each link names a part of an entry with the length
  /// that type and dims require. Cost: O(fields of the model). Switch it off for a model that is known to be valid.
  bool verify_model = true;
};

/// Names and sizes of entries, in bytes.
using EntrySizes = std::span<const std::pair<std::string_view, std::uint64_t>>;

namespace detail {
struct EntryState;
}

/// Adds entries to a new archive (ArchiveWriter) or to an existing one (ArchiveEditor). Owns the file; move-only.
/// The order is: weights, side files, graphs, because an edit can replace and remove only what follows the last weight.
/// After a graph, `add` throws usage.argument. A side file before a weight is refused when the model is verified: only
/// the model's links show which entries are weights. In an edit the order applies to the entries that it adds.
///
/// After any exception, every later call throws usage.writer_failed with the first failure, and nothing is published,
/// even if the caller swallows the exception. After the end, every call throws usage.writer_finished.
class EntryWriter {
 public:
  EntryWriter(const EntryWriter&) = delete;
  EntryWriter& operator=(const EntryWriter&) = delete;

  /// Reserves disk space for a file of `bytes` bytes, so that a full disk is an error at once, and writing is faster.
  /// Throws io.disk_full; io.failed (more than a file can hold).
  void reserve(std::uint64_t bytes);

  /// Adds an entry. `name` is its key: the location in a tensor's `external_data` (see KeyMaker). It must differ from
  /// all other names by more than case. Throws zip.name.*, archive.name.reserved, zip.limit.* (more than `open` accepts
  /// by default), io.source_size (the source delivers more or fewer bytes than its size), usage.argument (an entry out
  /// of the order above; an empty StreamReader, or one that returns more than the buffer holds), usage.own_name (in an
  /// edit: the name of the file), io.*; exceptions of a source pass through.
  void add(std::string_view name, const ByteSource& source);
  void add(std::string_view name, Bytes bytes);
  void add(std::string_view name, const FileRange& range);
  /// Adds the first `size` bytes of a stream, in pieces of at most 1 MiB. Does not read later bytes.
  void add(std::string_view name, std::uint64_t size, const StreamReader& read);

  /// Adds an entry of `size` bytes that a producer pushes in pieces: `begin`, any number of calls of `write`, `end`.
  /// The file has the same bytes as with `add`. `payload_size` (tensor.h) computes the size from type and dims. A piece
  /// may be freed after its call; pieces of at least 1 MiB are the fastest. Between `begin` and `end` only `write` may
  /// be called. Throws what `add` throws; io.source_size (more or fewer bytes than `size`); usage.argument (another
  /// order of calls).
  void begin(std::string_view name, std::uint64_t size);
  void write(Bytes bytes);
  void end();

  /// Adds another model, a serialised ModelProto over the same entries, as `NAME.onnx` (spec/graphs.md). `name` may
  /// lack `.onnx`. The graph is verified with the model. To replace a graph in an edit, first remove it. Throws what
  /// `add` throws; usage.argument (the name, or its part after the last slash, is empty).
  void add_graph(std::string_view name, Bytes model);
  void add_graph(std::string_view name, const ByteSource& model);

 protected:
  explicit EntryWriter(detail::Owned<detail::EntryState> state) noexcept : state_(std::move(state)) {}
  EntryWriter(EntryWriter&&) noexcept = default;
  EntryWriter& operator=(EntryWriter&&) noexcept = default;
  ~EntryWriter() = default;
  /// Throws usage.argument if the object was moved from.
  [[nodiscard]] detail::EntryState& state() const;

  detail::Owned<detail::EntryState> state_;
};

/// Writes one archive, front to back, in bounded memory: a buffer of 1 MiB and about 100 bytes per entry.
/// `finish` gives the complete, synced file its name. A reader never sees half an archive, and a writer that is
/// destroyed or killed leaves no file. The same calls write the same bytes on every machine.
class ArchiveWriter : public EntryWriter {
 public:
  /// Begins an archive at `target`. Throws output.exists, io.*, usage.argument (the alignment, a dry run).
  static ArchiveWriter create(const std::filesystem::path& target, const WriterOptions& options = {});

  /// Writes the model and the directory, and publishes the file. Throws what `add` throws; archive.model.too_large;
  /// output.exists; with WriterOptions::verify_model also usage.argument (the order of the entries), wire.*,
  /// onnx.model.invalid, onnx.external_data.* (.missing: the location is not an entry; .marker: it names the memory of
  /// a process) and onnx.tensor.*, naming the tensor. Cost: O(model + graphs + entries).
  void finish(Bytes model);
  void finish(const ByteSource& model);

 private:
  ArchiveWriter(detail::Owned<detail::EntryState> state, bool sync, bool verify_model) noexcept
      : EntryWriter(std::move(state)), sync_(sync), verify_model_(verify_model) {}

  bool sync_;
  bool verify_model_;
};

/// Makes keys for tensor names: C identifiers that differ by more than ASCII case. Bytes outside [A-Za-z0-9_] become
/// `_`, and repeated keys get `_2`, `_3`, ... in the order of the calls. Move-only; not synchronised.
class KeyMaker {
 public:
  KeyMaker();
  /// Makes keys for an edit of this archive: reserves the names of its entries, its model and its file. Throws wire.*.
  /// Cost: O(entries).
  explicit KeyMaker(const Archive& archive);
  /// Excludes an entry's name, and two parts of it (W12), from the keys that `make` returns. For `extra/a.txt`, also
  /// excludes `extra`, because no entry may have the name of a folder, and `a.txt`: if a graph in `extra` had a tensor
  /// with this key, a tool that reads the unzipped archive would take `extra/a.txt` for it.
  void reserve(std::string_view name);
  /// Returns a new key for a tensor of this name.
  [[nodiscard]] std::string make(std::string_view tensor_name);

 private:
  struct Parts;
  detail::Owned<Parts> parts_;
};

/// Returns the size of an archive with these entries, in this order, and a model of `model_size` bytes, for `reserve`.
/// Throws usage.argument (the alignment; more than 2^60 bytes, which is beyond any file system); zip.limit.*.
[[nodiscard]] std::uint64_t archive_size(EntrySizes entries, std::uint64_t model_size,
                                         std::uint64_t alignment = default_alignment);

struct EditOptions {
  OutputOptions output = {};  ///< `overwrite` does not apply; with `dry_run` the editor only plans
  OpenOptions open = {};      ///< limits of the archive before and after
  bool verify_model = true;   ///< as in WriterOptions, by `commit`
};

/// One edit of one archive. Holds an exclusive lock (flock) on the file until it is destroyed. Move-only.
/// Weights are added, never removed or moved. To drop a tensor, commit a model that does not name its entry, and `pack`
/// the archive to leave the entry out. Side files and graphs after the last weight can be removed and replaced.
///
/// `commit` syncs before and after it writes the end record, which completes the edit. If only the last sync fails, the
/// error says that the edit was written. An editor that fails or is destroyed before the end record cuts off what it
/// appended. If no entry stays in place (`kept_entries` is 0), the archive is rewritten and renamed, since its first
/// entry must be at offset 0; `undo` then cannot go back. `archive()` and `size_with` still work after a failure.
class ArchiveEditor : public EntryWriter {
 public:
  /// Locks and opens the archive, compares the CRC-32 of its model, and writes nothing. A damaged model cannot be
  /// replaced, because the new model may be made from it and would hide the damage. Waits at most one second for
  /// another edit. With `output.dry_run` the file is only read, and locked if the file system supports locks; `remove`,
  /// `kept_entries` and `size_with` then plan an edit, and other members throw usage.argument. Throws archive.* (.busy:
  /// an edit is in progress; .torn: see `recover`), io.*, zip.* (.data.crc: of the model); usage.own_name (an entry has
  /// the name of the file). Cost: O(directory + bytes of the model).
  static ArchiveEditor open(const std::filesystem::path& path, const EditOptions& options = {});

  /// Returns the archive before the edit. Its views are valid as long as the editor or a share from its `owner()`.
  [[nodiscard]] const Archive& archive() const& noexcept;
  const Archive& archive() const&& = delete;

  /// Returns the size of the file with these entries and a model of `model_size` bytes added. Checks their names, also
  /// against each other, before anything is written. Throws what `add` and `commit` throw.
  [[nodiscard]] std::uint64_t size_with(EntrySizes entries, std::uint64_t model_size) const;

  /// Removes a side file, a graph, or an entry that tensors no longer name. To replace it, then `add` the same name.
  /// Call it before `reserve` and the first `add`. Entries that follow the removed one are verified and appended again.
  /// All bytes stay in the file until it is repacked, so `undo` restores them. Throws usage.argument for the model; for
  /// an entry that a tensor names; for an entry before one that a tensor names, because the later one would have to
  /// move (use `pack`); for any entry while the archive has a graph that is damaged or cannot be read (remove all such
  /// graphs first); and after `reserve` or `add`. Throws usage.no_such_entry, wire.*, onnx.*. Cost:
  /// O(directory + model + graphs) for the first call, then O(1); `commit` copies the entries that follow.
  void remove(std::string_view name);
  /// Returns the number of entries that stay in place, which are the first ones of `archive()`.
  [[nodiscard]] std::size_t kept_entries() const noexcept;

  /// Appends the model and the directory. Throws what ArchiveWriter::finish throws; io.changed (the path now leads to
  /// another file, or to none); usage.argument (even without `verify_model`: a tensor of a remaining graph is linked to
  /// `__MODEL_PROTO`). Cost without added entries: O(model + graphs + directory).
  void commit(Bytes model);
  void commit(const ByteSource& model);

 private:
  friend class EditAccess;
  struct Edit;
  explicit ArchiveEditor(detail::Owned<detail::EntryState> state) noexcept : EntryWriter(std::move(state)) {}
  [[nodiscard]] Edit& edit() const;
};

/// A state of an archive to which its file was, or would be, cut back.
struct EarlierState {
  std::uint64_t file_size = 0;  ///< bytes, before the cut
  std::uint64_t size = 0;       ///< bytes, after it; equal to `file_size` if nothing is cut
  std::uint64_t entries = 0;    ///< including the model
  std::uint64_t model_size = 0;
  std::uint32_t model_crc32 = 0;
};

/// Cuts off the last edit permanently. The state before it must be intact, and its model's CRC-32 correct. Waits and
/// locks like ArchiveEditor. Readers that have the file mapped must not touch the bytes that were cut off. Of
/// `options`, only `sync` and `dry_run` apply. Throws usage.nothing_to_undo (also after an edit that rewrote the
/// archive); archive.* (.torn: a later edit was interrupted, `recover` first; .unrecoverable: the state before is
/// damaged); io.*, zip.*. Cost: O(model + directory).
EarlierState undo(const std::filesystem::path& path, const OutputOptions& options = {});

/// Cuts off what an interrupted edit left, back to the last intact state: the longest prefix of the file in which
/// `check` finds no error and the CRC-32s of the entries that the state added are correct. Does nothing if the archive
/// is complete. Cuts off complete but damaged edits only with `overwrite`. Locks and truncates like `undo`. Throws
/// archive.* (.unrecoverable: no prefix is valid, or a complete edit would be lost); io.*. Cost: O(headers), plus
/// the time to read these entries and what is cut off.
EarlierState recover(const std::filesystem::path& path, const OutputOptions& options = {});

}  // namespace ONNXAR_API onnxar
