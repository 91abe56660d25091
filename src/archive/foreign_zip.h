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

/// The budget of a zip file. Entries that are used are counted in it before they are inflated.
class ZipExpansion {
 public:
  ZipExpansion(std::uint64_t input_bytes, std::uint64_t times) : budget_(input_bytes, times) {}

  /// Counts the bytes of an entry that is going to be used. Errors: zip.limit.expansion.
  void add(const zip::ForeignEntry& entry);
  /// Compares `bytes`, the total size of the output, with the limit. Errors: zip.limit.expansion.
  void check(std::uint64_t bytes) const;
  /// The maximum number of bytes.
  [[nodiscard]] std::uint64_t most() const noexcept { return budget_.most(); }

 private:
  [[noreturn]] void refuse(std::uint64_t bytes, const Place& place) const;

  base::ByteBudget budget_;
};

// A temporary file for bytes that are too large to be kept in memory.

/// A nameless file that is mapped as a whole while it is empty: one descriptor and one mapping serve any number of
/// entries of a zip. `place_of` assigns a range to an entry, and `bytes` writes it. Entries are identified by their
/// header offsets, which differ within a zip. Threads: all members may be called concurrently.
class Spool {
 public:
  /// The file is created in `folder` (empty: the current one) for the first entry. It has room for `capacity` bytes.
  Spool(std::filesystem::path folder, std::uint64_t capacity) : folder_(std::move(folder)), capacity_(capacity) {}

  /// Returns the range in which the bytes of an entry will be. Pages that were not written take no space on the disk.
  /// Errors: io.*.
  /// REQUIRES: the places of all entries, each at a multiple of zip::alignment_minimum, fit the capacity.
  Bytes place_of(std::uint64_t header_offset, std::uint64_t size);
  /// Returns the bytes of an entry. `fill` passes the verified bytes to a sink. It is called once per entry, and again
  /// if it threw. REQUIRES: place_of(header_offset, ...) was called. Errors: io.* and the errors of `fill`.
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

/// The text that PyTorch's exporter wrote into `raw_data` of a tensor whose bytes are in the entry of the tensor's
/// name.
inline constexpr std::string_view stand_in = "__EXTERNAL";

/// Whether the bytes of the model contain `stand_in` as a field raw_data. Does not parse the messages around the field,
/// so the answer may be wrong for a model with the same bytes elsewhere; then `link_stand_ins` (convert) finds no
/// tensor to link. Errors: those of reading `model`. Cost: O(bytes), in constant memory.
bool may_have_stand_ins(const ByteSource& model);

/// Whether the source's bytes contain this text. Errors: those of reading. Cost: O(bytes), in constant memory.
bool has_text(const ByteSource& source, std::string_view text);

/// The model of a zip file.
struct ForeignModel {
  std::size_t index = 0;  ///< the model's entry
  Dialect dialect = Dialect::archive;
  std::string folder;  ///< with a slash: the top-level folder, if it contains all files; empty otherwise
};

/// Whether an archive made from the zip omits the entry, because it is a folder or metadata of macOS' Finder.
[[nodiscard]] bool is_left_out(const zip::ForeignEntry& entry) noexcept;

/// Finds the model of the zip file: `__MODEL_PROTO`, `__MODEL_PROTO.onnx` or the only `*.onnx`, in the root or in the
/// top-level folder that contains all files. Counts the model in `expansion`. Errors: archive.model.missing (none, or
/// several); zip.data.inflate, zip.limit.expansion.
[[nodiscard]] ForeignModel find_foreign_model(Bytes file, const zip::ForeignDirectory& directory,
                                              ZipExpansion& expansion);

// A foreign zip whose entries can be read in place.

/// Stored entries are views of the mapped file. Deflated entries are views of a nameless file, and each is inflated to
/// it when it is first read. So entries are not held in memory, and entries that are not read are not inflated. Owns
/// both files. Move-only. Not synchronised, except where noted.
class UnpackedZip {
 public:
  /// Reads the directory. Inflated entries go to a file in `folder`. The entries that are used may inflate to
  /// `max_expansion` times the size of the zip. Errors: io.*, zip.*. Cost: O(entries).
  UnpackedZip(const std::filesystem::path& path, std::filesystem::path folder, std::uint64_t max_expansion,
              const zip::Limits& limits = {});

  /// As `find_foreign_model`. REQUIRES: it is called once, and before entries are used. Cost: O(entries), and O(bytes)
  /// of the model.
  [[nodiscard]] ForeignModel find_model();
  [[nodiscard]] const zip::ForeignDirectory& directory() const noexcept { return directory_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// The file that the bytes of stored entries are mapped from.
  [[nodiscard]] const base::FileOrigin* origin() const noexcept { return file_.origin(); }
  [[nodiscard]] std::uint64_t file_size() const noexcept { return file_.bytes().size(); }
  [[nodiscard]] const zip::ForeignEntry& entry(std::size_t index) const { return directory_.entries()[index]; }

  /// Returns the bytes of an entry. A deflated entry is inflated and verified; a stored entry is not verified.
  /// Errors: zip.*, io.*.
  [[nodiscard]] Bytes bytes(std::size_t index);
  /// Returns the range of an entry's bytes. A deflated entry is inflated later, when `bytes` is called or a source is
  /// read. Errors: zip.limit.expansion; io.*.
  [[nodiscard]] Bytes place_of(std::size_t index);
  /// Returns the bytes of a stored entry. It does not count as used. REQUIRES: it is not deflated.
  [[nodiscard]] Bytes stored(std::size_t index) const;
  /// Compares the CRC-32 of a stored entry. Errors: zip.data.crc.
  void verify(std::size_t index) const;
  /// Returns a source of the bytes of an entry. It verifies them while it is read, with up to `threads` threads (0: one
  /// per core), and may be read by any thread. The zip must outlive it. Errors: zip.limit.expansion.
  [[nodiscard]] std::unique_ptr<const ByteSource> source(std::size_t index, std::size_t threads);
  /// Returns a source of `part`, a part of the range that `place_of` returned for a deflated entry.
  [[nodiscard]] std::unique_ptr<const ByteSource> inflated_source(std::size_t index, Bytes part) const;

 private:
  void use(std::size_t index);
  [[nodiscard]] std::uint64_t room_to_inflate() const;

  std::filesystem::path path_;
  std::filesystem::path folder_;
  base::MappedFile file_;
  zip::ForeignDirectory directory_;
  ZipExpansion expansion_;
  std::vector<bool> used_;  // by index: whether the entry is counted in expansion_
  std::unique_ptr<Spool> spool_;
};

}  // namespace onnxar
