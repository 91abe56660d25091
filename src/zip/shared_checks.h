// Checks of headers that hold for strict archives and for foreign zips alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "onnxar/bytes.h"
#include "zip/format.h"
#include "zip/header_context.h"

namespace onnxar::zip {

/// The length, with name, extra fields and comment, of a directory header that was parsed from the front of
/// `directory`, which begins at `offset` in the file. Errors: zip.directory.header (it is missing or cut).
std::uint64_t proved_length(const std::optional<CentralFileHeader>& header, Bytes directory, std::uint64_t offset);

/// Errors: zip.directory.count. `rest` is what follows the last of `count` headers; it begins at `offset` in the file.
void check_directory_end(Bytes rest, std::uint64_t count, std::uint64_t offset);

/// Errors: zip.entry.disk.
void check_disk(std::uint32_t disk_number_start, const HeaderContext& refuse);

/// Errors: zip.entry.sizes. For an entry that is stored.
void check_stored_sizes(std::uint64_t size, std::uint64_t compressed_size, const HeaderContext& refuse);

/// A local header with its variable parts, all of which lie in the file.
struct LocalParts {
  std::optional<LocalFileHeader> header;  ///< always set; an optional, so that the parser fills it in place
  std::uint64_t length = 0;               ///< with name and extra fields
  std::string_view name = {};
  Bytes extra = {};
};

/// Reads the local header at the front of `room`, which ends where the next record begins.
/// Errors: zip.local.header (it is missing or cut).
LocalParts read_local_parts(Bytes room, const HeaderContext& refuse);

/// Errors: zip.local.name, unless the local header names the entry as the directory does.
void check_local_name(const LocalParts& local, const HeaderContext& refuse);

/// Errors: zip.zip64.extra. For a local header whose sizes are sentinels.
[[noreturn]] void refuse_missing_local_zip64(const HeaderContext& refuse);

}  // namespace onnxar::zip
