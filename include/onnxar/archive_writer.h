// Writes an ONNX archive: first the weights, of any number and size, then the model.
//
//   onnxar::ArchiveWriter writer = onnxar::ArchiveWriter::create("model.onnxar");
//   onnxar::KeyMaker keys;
//   const std::string key = keys.make(tensor_name);  // the location of the tensor's external data
//   writer.add(key, bytes);
//   writer.finish(model);  // a serialised ModelProto; the file appears now
//
// To save a whole model, see `pack` (convert.h), Model::save (model/model.h) and ModelWriter (model_stream.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "onnxar/bytes.h"
#include "onnxar/version.h"

namespace ONNXAR_API onnxar {

/// For every function that writes files. The options of a function say which members do not apply.
struct OutputOptions {
  bool overwrite = false;   ///< replace an existing output, atomically and with its mode
  bool sync = true;         ///< sync files and folder before returning
  bool dry_run = false;     ///< find every fault that planning can find, and write nothing
  std::size_t threads = 0;  ///< that write and sum; 1: only the caller's; 0: one for each core
};

struct WriterOptions {
  /// Of every entry, a power of two from 64 to 32768; entries of at least 1 MiB get at least 4096.
  std::uint64_t alignment = default_alignment;
  /// `dry_run` is usage.argument.
  OutputOptions output = {};
  /// `finish` verifies that the model is a ModelProto, and that each link names a part of an entry with the length that
  /// type and dims require. Cost: O(fields of the model). Switch it off for a model that is known to be good, or that
  /// is not a model yet.
  bool verify_model = true;
};

/// Writes one archive, front to back, in bounded memory: a buffer of 1 MiB and about 100 bytes per entry. Owns the
/// file; move-only.
///
/// `finish` gives the complete, synced file its name. A reader never sees half an archive, and a writer that is
/// destroyed or killed leaves no file. Equal calls write equal bytes, at any time and on any machine.
///
/// A writer that failed stays failed: after any exception, every later call throws usage.writer_failed with the first
/// failure, and nothing is published. So a lost exception cannot lead to an archive with a missing entry. After
/// `finish`, every call throws usage.writer_finished.
///
/// Threads: one call at a time. A second call during the first, from another thread or from a source, throws
/// usage.writer_busy, and both fail.
class ArchiveWriter {
 public:
  /// Errors: output.exists, io.*, usage.argument (the alignment, a dry run).
  static ArchiveWriter create(const std::filesystem::path& target, const WriterOptions& options = {});

  ArchiveWriter(ArchiveWriter&& other) noexcept;
  ArchiveWriter& operator=(ArchiveWriter&& other) noexcept;
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;
  ~ArchiveWriter();

  /// Reserves disk space for an archive of `bytes` bytes: a full disk is noticed at once, and writing is faster.
  /// Errors: io.disk_full; io.failed (more than a file can hold).
  void reserve(std::uint64_t bytes);

  /// Adds an entry. `name` is its key: the location in a tensor's `external_data` (see KeyMaker). Errors: zip.name.*
  /// (among others, names that differ only in case), archive.name.reserved, io.source_size (the source gives more or
  /// fewer bytes than its size), usage.argument (an empty StreamReader, or one that returns more than the buffer
  /// holds), io.*; exceptions of a source pass through.
  void add(std::string_view name, Bytes bytes);
  void add(std::string_view name, const FileRange& range);
  /// The first `size` bytes of a stream, in pieces of at most 1 MiB. Later bytes are not read.
  void add(std::string_view name, std::uint64_t size, const StreamReader& read);
  void add(std::string_view name, const ByteSource& source);
  /// Adds a further model, a serialised ModelProto over the same entries, as `NAME.onnx` (spec/graphs.md). `name` may
  /// lack `.onnx`. Graphs come after weights and side files; `finish` verifies them too. Errors: as `add`;
  /// usage.argument (an empty name, or one with a slash).
  void add_graph(std::string_view name, Bytes model);
  void add_graph(std::string_view name, const ByteSource& model);

  /// Writes the model and the directory, and publishes the file. Errors: as `add`; archive.model.too_large;
  /// output.exists; with WriterOptions::verify_model also wire.*, onnx.model.invalid, onnx.external_data.* (.missing:
  /// the location is not an entry; .marker: it is memory of a process) and onnx.tensor.*, naming the tensor.
  void finish(Bytes model);
  void finish(const ByteSource& model);

 private:
  struct Parts;
  explicit ArchiveWriter(std::unique_ptr<Parts> parts) noexcept;

  std::unique_ptr<Parts> parts_;
};

/// Makes keys for tensor names: C identifiers that differ by more than ASCII case. Bytes outside [A-Za-z0-9_] become
/// `_`, and repeated keys get `_2`, `_3`, ... in the order of the calls. Not synchronised.
class KeyMaker {
 public:
  KeyMaker();
  KeyMaker(KeyMaker&& other) noexcept;
  KeyMaker& operator=(KeyMaker&& other) noexcept;
  KeyMaker(const KeyMaker&) = delete;
  KeyMaker& operator=(const KeyMaker&) = delete;
  ~KeyMaker();

  /// Excludes the name of an entry from the keys that `make` returns. A key has no slash, so it can only clash with a
  /// whole name or with the first folder of one: `extra/a.txt` excludes `extra`.
  void reserve(std::string_view name);
  /// A new key for a tensor of this name.
  [[nodiscard]] std::string make(std::string_view tensor_name);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// The size of an archive with these entries, in this order, and a model of `model_size` bytes: what to reserve.
/// Errors: usage.argument (the alignment; more than 2^60 bytes, which is beyond any file system).
[[nodiscard]] std::uint64_t archive_size(std::span<const std::pair<std::string_view, std::uint64_t>> names_and_sizes,
                                         std::uint64_t model_size, std::uint64_t alignment = default_alignment);

/// A new name for an entry, for `repack` (edit.h) and `pack` (options.h).
struct RenamedEntry {
  std::string from;
  std::string to;  ///< an allowed name that is not a C identifier, since those are keys of tensors
};

/// Writes a file that is not an archive in the way that archives are written: it gets the target's name when it is
/// complete and synced, and replaces nothing unless `options` say so. A dry run finds out whether it could be written.
/// `threads` does not apply. Errors: output.exists, io.*. Cost: O(bytes).
void write_file(const std::filesystem::path& target, Bytes bytes, const OutputOptions& options = {});

}  // namespace ONNXAR_API onnxar
