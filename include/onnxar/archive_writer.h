// Writing an ONNX archive: add the weights, of any number and size, then the model.
//
//   onnxar::ArchiveWriter writer = onnxar::ArchiveWriter::create("model.onnxar");
//   onnxar::KeyMaker keys;
//   const std::string key = keys.make(tensor_name);  // the location of the tensor's external data
//   writer.add(key, bytes);
//   writer.finish(model);  // a serialised ModelProto; the file appears now
//
// To save a whole model, see `pack` (convert.h), Model::save (model/model.h) and ModelWriter (model_stream.h).
//
// Threads: one writer or KeyMaker takes one call at a time; different ones are independent of each other.
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

/// How files are written, for every function that writes. The options of a function say which members do not apply.
struct OutputOptions {
  bool overwrite = false;   ///< replace an existing output, atomically and with its mode; otherwise it is an error
  bool sync = true;         ///< sync files and folder before returning
  bool dry_run = false;     ///< find every fault that planning can find, and write nothing
  std::size_t threads = 0;  ///< threads that write and sum: 1 is only the caller's; 0: one for each core
};

struct WriterOptions {
  /// Every entry begins at a multiple of this, a power of two from 64 to 32768; entries of at least 1 MiB begin at a
  /// multiple of 4096 or more.
  std::uint64_t alignment = default_alignment;
  /// `finish` syncs and replaces. A writer has no dry run: `dry_run` is usage.argument.
  OutputOptions output = {};
  /// Whether `finish` verifies that the model is a ModelProto, and that each of its links names an entry and a part of
  /// it with the length that type and dims require. Cost: O(fields of the model); no weight is read. Switch it off for
  /// a model that is known to be good, or that is not a model yet.
  bool verify_model = true;
};

/// Writes one archive, front to back, in bounded memory: a buffer of 1 MiB and about 100 bytes per entry.
///
/// The file has no name until `finish` gives it the target's name, complete and synced. A reader never sees half an
/// archive, and a writer that is destroyed or killed leaves no file. Equal calls write equal bytes: the file contains
/// nothing about time or machine. Owns the file; move-only.
///
/// A writer that failed stays failed. After an exception of any kind from a member, every later call throws
/// usage.writer_failed with the first failure, and nothing is published. A caller that loses an exception therefore
/// cannot replace a whole archive by one with a missing entry. To try again, make a new writer. After `finish`, every
/// call throws usage.writer_finished. A writer that was moved from can only be assigned to and destroyed.
///
/// Threads: one call at a time. A second call during the first, from a different thread or from a source that the first
/// call reads, changes nothing, throws usage.writer_busy and fails the writer; the first call then fails too. Sources
/// and callbacks run on the thread of the call.
class ArchiveWriter {
 public:
  /// Errors: output.exists, io.* (no such folder, permission), usage.argument (the alignment, a dry run).
  static ArchiveWriter create(const std::filesystem::path& target, const WriterOptions& options = {});

  ArchiveWriter(ArchiveWriter&& other) noexcept;
  ArchiveWriter& operator=(ArchiveWriter&& other) noexcept;
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;
  ~ArchiveWriter();

  /// Reserves disk space. Call it if the total is known: a full disk is noticed at once, and writing is faster.
  /// Errors: io.disk_full; io.failed (more than a file can hold).
  void reserve(std::uint64_t bytes);

  /// Adds an entry. `name` is its key: the location in a tensor's `external_data` (`KeyMaker` makes good ones).
  /// Errors: zip.name.* (the name is not portable ASCII, breaks another rule of names, or differs from an existing one
  /// only in case), archive.name.reserved, io.source_size (the source gives more or fewer bytes than its size),
  /// usage.argument (an empty StreamReader, or one that returns more than the buffer holds), io.*; exceptions of a
  /// source pass through. The writer has failed after each of them.
  void add(std::string_view name, Bytes bytes);
  void add(std::string_view name, const FileRange& range);
  /// The first `size` bytes of a stream, read in pieces of at most 1 MiB. Later bytes are not read.
  void add(std::string_view name, std::uint64_t size, const StreamReader& read);
  void add(std::string_view name, const ByteSource& source);
  /// Adds a further model as a graph over the same entries: a serialised ModelProto, which becomes the entry
  /// `NAME.onnx` (spec/graphs.md). `name` may already end so. Graphs come after weights and side files. `finish`
  /// verifies them as it does the model. Errors: as `add`; usage.argument (an empty name, or one with a slash).
  void add_graph(std::string_view name, Bytes model);
  void add_graph(std::string_view name, const ByteSource& model);

  /// Writes the model and the directory, and publishes the file. Errors: as `add`; archive.model.too_large;
  /// output.exists if the target appeared during writing; with WriterOptions::verify_model, errors of the model:
  /// wire.*, onnx.model.invalid, onnx.external_data.missing (a location that is not an entry), .out_of_range, .marker
  /// (memory of a process), onnx.tensor.length and the like, naming the tensor.
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
