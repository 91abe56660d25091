// Checks of headers and data that strict archives and foreign zips share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/kept.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "zip/format.h"

namespace onnxar::zip {

/// Selects the rules for a zip file. `archive`: the strict profile (spec/onnx-archive.md). `foreign`: zip files of
/// other programs (spec/other-zips.md).
enum class Rules : std::uint8_t { archive, foreign };

/// Throws errors that name one header: `refuse(Code::zip_entry_flags, "...")`. The Place is built only when an error is
/// thrown: it owns a string, and a directory may have a million headers.
class HeaderContext {
 public:
  /// The header of the entry `name`, which begins at `offset` in the file.
  HeaderContext(base::Kept<std::string_view> name, std::uint64_t offset) : name_(name), offset_(offset) {}

  [[noreturn]] void operator()(Code code, std::string_view message, Hint hint = Hint::none) const {
    throw Error(code, std::string(message), {std::string(name_), offset_}, {}, {hint});
  }
  [[nodiscard]] std::string_view name() const noexcept { return name_; }

 private:
  std::string_view name_;
  std::uint64_t offset_;
};

/// Returns the error for an entry whose data has the CRC-32 `actual`, while `who` ("the archive") states another one.
Error crc_fault(Place place, std::string_view who, std::uint32_t stated, std::uint32_t actual);

/// Words the range of versions that `is_known_version` accepts: `10 to 45`.
std::string known_versions();

/// Throws zip.directory.header: the header at `offset` in the file is missing or cut.
[[noreturn]] void refuse_directory_header(bool is_cut, std::uint64_t offset);

/// Returns the length, with name, extra fields and comment, of the directory header that was parsed from the front of
/// `directory`, which begins at `offset` in the file. Throws zip.directory.header (the header is missing or cut).
inline std::uint64_t proved_length(const std::optional<CentralFileHeader>& header, Bytes directory,
                                   std::uint64_t offset) {
  if (!header) refuse_directory_header(false, offset);
  // Three 16-bit lengths and a constant: the sum cannot wrap.
  const std::uint64_t length =
      central_file_header_size + header->file_name_length + header->extra_field_length + header->file_comment_length;
  if (length > directory.size()) refuse_directory_header(true, offset);
  return length;
}

/// Checks that no bytes follow the last of `count` headers. `rest` is the remainder of the directory, which begins at
/// `offset` in the file. Throws zip.directory.count.
void check_directory_end(Bytes rest, std::uint64_t count, std::uint64_t offset);

/// The message for an entry whose local header would lie after the start of the directory (P4, F27).
inline constexpr std::string_view header_after_directory =
    "the header states an offset after the start of the directory";

/// Checks that the entry is on the only disk. Throws zip.entry.disk.
void check_disk(std::uint32_t disk_number_start, const HeaderContext& refuse);

/// Checks that both sizes of a stored entry are equal. Throws zip.entry.sizes.
void check_stored_sizes(std::uint64_t size, std::uint64_t compressed_size, const HeaderContext& refuse);

/// A local header with its name and extra fields. All of them lie in the file.
struct LocalParts {
  std::optional<LocalFileHeader> header;  ///< always set; an optional, so that the parser fills it in place
  std::uint64_t length = 0;               ///< with name and extra fields
  std::string_view name = {};
  Bytes extra = {};
};

/// Reads the local header at the front of `room`, which ends where the next record begins. Throws zip.local.header (the
/// header is missing or cut).
LocalParts read_local_parts(Bytes room, const HeaderContext& refuse);

/// Checks that the local header and the directory state the same name. Throws zip.local.name.
void check_local_name(const LocalParts& local, const HeaderContext& refuse);

/// Refuses a local header whose sizes are sentinels without a zip64 field. Throws zip.zip64.extra.
[[noreturn]] void refuse_missing_local_zip64(const HeaderContext& refuse);

}  // namespace onnxar::zip
