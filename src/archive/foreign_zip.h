// Finds the model in a foreign zip, and recognises the exporter that wrote it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/keyed_hash.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "zip/foreign_directory.h"
#include "zip/format.h"

namespace onnxar {

// Limits the number of bytes that a foreign zip may expand to.

/// Limits what one zip file may expand to. Entries are counted before they are inflated.
class ZipExpansion {
 public:
  ZipExpansion(std::uint64_t input_bytes, std::uint64_t times) : budget_(input_bytes, times) {}

  /// Counts the bytes of an entry that will be used. Throws zip.limit.expansion.
  void add(const zip::ForeignEntry& entry);
  /// Throws zip.limit.expansion if `bytes`, the total size of the output, exceeds the limit.
  void check(std::uint64_t bytes) const;
  /// Returns the maximum number of bytes.
  [[nodiscard]] std::uint64_t most() const noexcept { return budget_.most(); }

 private:
  [[noreturn]] void refuse(std::uint64_t bytes, const Place& place) const;

  base::ByteBudget budget_;
};

// Stores bytes that are too large for memory in a temporary file.

/// Keeps inflated entries in a nameless file, which is mapped as a whole while it is empty: one descriptor and one
/// mapping serve any number of entries. `place_of` assigns a range to an entry, and `bytes` writes it. Entries are
/// identified by their header offsets, which differ within a zip. Threads: all members may be called concurrently.
class Spool {
 public:
  /// Does not create the file yet: it is created in `folder` (empty: the current one) for the first entry. It has room
  /// for `capacity` bytes.
  Spool(std::filesystem::path folder, std::uint64_t capacity) : folder_(std::move(folder)), capacity_(capacity) {}

  /// Returns the range in which the bytes of an entry will be. Pages that were not written take no disk space. Throws
  /// io.*. REQUIRES: the places of all entries, each at a multiple of zip::alignment_minimum, fit the capacity.
  Bytes place_of(std::uint64_t header_offset, std::uint64_t size);
  /// Returns the bytes of an entry. Calls `fill`, which passes the verified bytes to a sink, once per entry, and again
  /// if it threw. REQUIRES: place_of(header_offset, ...) was called. Throws io.*, and what `fill` throws.
  using Fill = std::function<void(const ByteSink&)>;
  Bytes bytes(std::uint64_t header_offset, const Fill& fill);

 private:
  struct Place {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    bool filled = false;
  };

  void make_file();

  std::filesystem::path folder_;
  std::uint64_t capacity_;
  std::mutex mutex_;
  std::optional<base::OutputFile> file_;
  std::optional<base::MappedFile> mapping_;
  base::KeyedMap<std::uint64_t, Place> places_;
  std::uint64_t end_ = 0;
};

enum class Dialect : std::uint8_t {
  archive,  ///< `__MODEL_PROTO` and the entries that it names: an archive that breaks rules of form only
  pytorch,  ///< `__MODEL_PROTO` with stand-ins for tensors: torch.onnx's ZIP_ARCHIVE of 2018
  tf2onnx,  ///< `__MODEL_PROTO.onnx`: tf2onnx's --large_model
  files,    ///< one `*.onnx` and its data files
};

/// Describes the dialect for messages: `a PyTorch export (ZIP_ARCHIVE)`.
[[nodiscard]] std::string_view to_string(Dialect dialect) noexcept;

/// The text that PyTorch's exporter wrote into a tensor's `raw_data` if the bytes are in the entry named like the
/// tensor.
inline constexpr std::string_view stand_in = "__EXTERNAL";

/// True if the model contains `stand_in` as a field raw_data. Does not parse the messages around the field, so a model
/// with the same bytes elsewhere also matches; then `link_stand_ins` (convert) finds no tensor to link. Throws what
/// reading `model` throws. Cost: O(bytes), in constant memory.
bool may_have_stand_ins(const ByteSource& model);

/// True if the source's bytes contain this text. Throws what reading the source throws. Cost: O(bytes), in constant
/// memory.
bool has_text(const ByteSource& source, std::string_view text);

/// Describes the model of a zip file.
struct ForeignModel {
  std::size_t index = 0;  ///< the model's entry
  Dialect dialect = Dialect::archive;
  std::string folder;  ///< with a slash: the top-level folder, if it contains all files; empty otherwise
};

/// True if an archive made from the zip omits the entry, because it is a folder or metadata of macOS' Finder.
[[nodiscard]] bool is_left_out(const zip::ForeignEntry& entry) noexcept;

/// Finds the model of the zip file: `__MODEL_PROTO`, `__MODEL_PROTO.onnx` or the only `*.onnx`, in the root or in the
/// top-level folder that contains all files. Counts the model in `expansion`. Throws archive.model.missing if there is
/// no model or if there are several; zip.data.inflate; zip.limit.expansion.
[[nodiscard]] ForeignModel find_foreign_model(Bytes file, const zip::ForeignDirectory& directory,
                                              ZipExpansion& expansion);

// Makes the entries of a foreign zip readable as memory.

/// Presents stored entries as views of the mapped file, and deflated entries as views of a nameless file, into which
/// each is inflated when it is first read. So entries are not held in memory, and unread entries are not inflated. Owns
/// both files. Move-only. Not synchronised, except where noted.
class UnpackedZip {
 public:
  /// Reads the directory of the file at `path`. Inflated entries go to a file in `folder`. The entries that are
  /// used may inflate to `max_expansion` times the size of the zip. Throws io.* and zip.*. Cost: O(entries).
  UnpackedZip(std::shared_ptr<const base::MappedFile> file, std::filesystem::path path, std::filesystem::path folder,
              std::uint64_t max_expansion, const zip::Limits& limits = {});

  /// Does what `find_foreign_model` does. REQUIRES: it is called once, and before entries are used. Cost: O(entries),
  /// and O(bytes) of the model.
  [[nodiscard]] ForeignModel find_model();
  [[nodiscard]] const zip::ForeignDirectory& directory() const noexcept { return directory_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] const base::MappedFile& file() const noexcept { return *file_; }
  [[nodiscard]] const zip::ForeignEntry& entry(std::size_t index) const { return directory_.entries()[index]; }

  /// Returns the bytes of an entry. A deflated entry is inflated and verified; a stored entry is not verified. Throws
  /// zip.* and io.*.
  [[nodiscard]] Bytes bytes(std::size_t index);
  /// Returns the range of an entry's bytes. A deflated entry is inflated later, when `bytes` is called or a source is
  /// read. Throws zip.limit.expansion and io.*.
  [[nodiscard]] Bytes place_of(std::size_t index);
  /// Returns the bytes of a stored entry. It does not count as used. REQUIRES: it is not deflated.
  [[nodiscard]] Bytes stored(std::size_t index) const;
  /// Throws zip.data.crc if the CRC-32 of a stored entry is wrong.
  void verify(std::size_t index) const;
  /// Returns a source of the bytes of an entry. It verifies them while it is read, with up to `threads` threads (0: one
  /// per core), and may be read by any thread. Throws zip.limit.expansion.
  [[nodiscard]] static std::unique_ptr<const ByteSource> source(std::shared_ptr<UnpackedZip> zip, std::size_t index,
                                                                std::size_t threads);
  /// Returns a source of `part`, a part of the range that `place_of` returned for a deflated entry.
  [[nodiscard]] static std::unique_ptr<const ByteSource> inflated_source(std::shared_ptr<const UnpackedZip> zip,
                                                                         std::size_t index, Bytes part);

 private:
  void use(std::size_t index);
  [[nodiscard]] std::uint64_t room_to_inflate() const;

  std::filesystem::path path_;
  std::filesystem::path folder_;
  std::shared_ptr<const base::MappedFile> file_;
  zip::ForeignDirectory directory_;
  ZipExpansion expansion_;
  std::vector<bool> used_;  // by index: true if the entry is counted in expansion_
  std::shared_ptr<Spool> spool_;
};

}  // namespace onnxar
