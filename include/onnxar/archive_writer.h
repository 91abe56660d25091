// Writing an ONNX archive: add the weights, in any number and of any size, then the model.
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

/// How output is written, the same for all that writes. What does not apply to a function is said where its options
/// are.
struct OutputOptions {
  bool overwrite = false;   ///< replace an output that exists, atomically, keeping its mode; otherwise it is an error
  bool sync = true;         ///< sync files and folder before returning
  bool dry_run = false;     ///< find every fault that planning can find, and write nothing
  std::size_t threads = 0;  ///< that write and sum: 1 for the caller's alone; 0: as many as there are cores
};

struct WriterOptions {
  /// Every entry begins at a multiple of this, a power of two from 64 to 32768; entries of 1 MiB and more at a multiple
  /// of 4096 at least.
  std::uint64_t alignment = 64;
  /// `finish` syncs and replaces. A writer has no dry run: `dry_run` is usage.argument.
  OutputOptions output = {};
  /// Whether `finish` proves that the model is a ModelProto and that every link of it names an entry of the archive and
  /// a part of it that data type and shape call for. Cost: O(fields of the model), no byte of a weight is read. Switch
  /// it off for a model that is known to be whole, or that is not a model yet.
  bool verify_model = true;
};

/// Writes one archive, front to back, in bounded memory: a buffer of 1 MiB and some 100 bytes an entry.
///
/// The file is nameless until `finish` gives it the target's name, complete and synced: a reader never sees half an
/// archive, and a writer that is destroyed or killed leaves nothing behind. The same calls give the same bytes: nothing
/// of time or machine goes in. Owns the file; move-only.
///
/// A writer that failed stays failed. After any exception that leaves a member, whatever its cause, every later call
/// throws usage.writer_failed, which says what failed first, and nothing is published: a caller that loses an exception
/// does not put an archive without an entry in the place of a whole one. Write the archive anew with a new writer.
/// Threads: one call at a time. A call that finds another one at work, in another thread or further up in the same one
/// (a source that adds an entry), touches nothing, throws usage.writer_busy and fails the writer, and so does the call
/// that was at work. After `finish` every call throws usage.writer_finished. A writer that was moved from is good for
/// assignment and destruction only.
class ArchiveWriter {
 public:
  /// Errors: output.exists, io.* (no such folder, permission), usage.argument (the alignment, a dry run).
  static ArchiveWriter create(const std::filesystem::path& target, const WriterOptions& options = {});

  ArchiveWriter(ArchiveWriter&& other) noexcept;
  ArchiveWriter& operator=(ArchiveWriter&& other) noexcept;
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;
  ~ArchiveWriter();

  /// Sets disk room aside; worth it when the total is known: a full disk is noticed at once, and writing is faster.
  /// Errors: io.disk_full; io.failed (more than a file can hold).
  void reserve(std::uint64_t bytes);

  /// Adds an entry. `name` is its key: what a tensor's `external_data` gives as location (`KeyMaker` makes good ones).
  /// Errors: zip.name.* (the name is not portable ASCII or breaks another rule, or clashes under folding),
  /// archive.name.reserved, io.source_size (the source gives more or fewer bytes than its size), usage.argument (an
  /// empty StreamReader, or one that returns more than it was asked for), io.*; what a source throws passes. The writer
  /// has failed after each.
  void add(std::string_view name, Bytes bytes);
  void add(std::string_view name, const FileRange& range);
  /// The first `size` bytes of a stream, read in pieces of up to 1 MiB; what follows them is not asked for.
  void add(std::string_view name, std::uint64_t size, const StreamReader& read);
  void add(std::string_view name, const ByteSource& source);

  /// Writes the model, the directory, and publishes the file. Errors: as `add`; archive.model.too_large; output.exists
  /// if the target appeared meanwhile; with WriterOptions::verify_model those of the model: wire.*, onnx.model.invalid,
  /// onnx.external_data.missing (a location that is not an entry), .out_of_range, .marker (memory of a process),
  /// onnx.tensor.length and the like, naming the tensor.
  void finish(Bytes model);
  void finish(const ByteSource& model);

 private:
  struct Parts;
  explicit ArchiveWriter(std::unique_ptr<Parts> parts) noexcept;

  std::unique_ptr<Parts> parts_;
};

/// An entry that gets another name in a new archive.
struct RenamedEntry {
  std::string from;
  std::string to;  ///< an allowed name, and no C identifier: those are keys of tensors
};

/// Gives tensor names keys that are C identifiers and differ under ASCII folding: bytes outside [A-Za-z0-9_] become
/// `_`, clashes get `_2`, `_3`, ... in the order of the calls. Not synchronised.
class KeyMaker {
 public:
  KeyMaker();
  KeyMaker(KeyMaker&& other) noexcept;
  KeyMaker& operator=(KeyMaker&& other) noexcept;
  KeyMaker(const KeyMaker&) = delete;
  KeyMaker& operator=(const KeyMaker&) = delete;
  ~KeyMaker();

  /// Keeps `name` from being handed out.
  void reserve(std::string_view name);
  /// A new key for a tensor of this name.
  [[nodiscard]] std::string make(std::string_view tensor_name);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// The size of an archive with these entries, in this order, and a model of `model_size` bytes: what to reserve.
/// Errors: usage.argument (the alignment; more than 2^60 bytes, which no file holds).
[[nodiscard]] std::uint64_t archive_size(std::span<const std::pair<std::string_view, std::uint64_t>> names_and_sizes,
                                         std::uint64_t model_size, std::uint64_t alignment = 64);

/// Writes a file that is not an archive in the way that archives are written: it gets the target's name when it is
/// complete and synced, and replaces nothing unless `options` say so. A dry run finds out whether it could be written.
/// `threads` does not apply. Errors: output.exists, io.*. Cost: O(bytes).
void write_file(const std::filesystem::path& target, Bytes bytes, const OutputOptions& options = {});

}  // namespace ONNXAR_API onnxar
