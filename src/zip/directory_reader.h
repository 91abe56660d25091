// Reads the directory of a strict archive step by step, without reading the file itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/byte_range.h"
#include "onnxar/bytes.h"
#include "zip/directory.h"
#include "zip/end_records.h"

namespace onnxar::zip {

/// Says which ranges of the file it reads next, and reads them once they are there:
///
///   DirectoryReader reader(file.size(), limits);
///   while (!reader.is_done()) {
///     fetch(reader.wants());  // for a mapped file there is nothing to do here
///     reader.step(file);
///   }
///   use(std::move(reader).take());
///
/// Three steps at most, for an archive whose local headers are where usual writers put them two: its end, its
/// directory. Each step makes all checks that its bytes allow, so that no range is wanted because of a number that was
/// not checked.
class DirectoryReader {
 public:
  DirectoryReader(std::uint64_t file_size, const Limits& limits) noexcept : size_(file_size), limits_(limits) {}

  [[nodiscard]] bool is_done() const noexcept { return stage_ == Stage::done; }
  /// The ranges that the next step reads, in any order; they may overlap.
  [[nodiscard]] std::vector<base::ByteRange> wants() const;
  /// Reads the wanted ranges of `file`, and no other byte. REQUIRES: !is_done(); `file` has the file's size.
  /// Errors: as Directory::read; after one the reader must not be used.
  void step(Bytes file);
  /// REQUIRES: is_done().
  [[nodiscard]] Directory take() && { return std::move(directory_); }

 private:
  enum class Stage : std::uint8_t {
    end,           ///< end record, zip64 locator and zip64 record
    faulty_end,    ///< all places where the end record could be instead, for the error message
    directory,     ///< all directory headers
    headers,       ///< the local headers whose places the directory does not tell, and the ends of superseded tails
    long_headers,  ///< those of them that are longer than usual
    done,
  };

  void read_end_of(Bytes file);
  void read_directory(Bytes file);
  void measure_headers(Bytes file);
  void prove_headers(Bytes file);
  [[nodiscard]] base::ByteRange last(std::uint64_t length) const noexcept;
  [[nodiscard]] std::uint64_t usual_length(std::size_t index) const noexcept;

  std::uint64_t size_;
  Limits limits_;
  Stage stage_ = Stage::end;
  EndOfArchive end_;
  Directory directory_;
  std::vector<std::size_t> irregular_;         // indices of the entries to prove
  std::vector<base::ByteRange> long_headers_;  // of some of these
};

}  // namespace onnxar::zip
