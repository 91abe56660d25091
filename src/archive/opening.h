// Opening a file that somebody may be editing.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/open_file.h"
#include "onnxar/archive.h"
#include "os/file.h"

namespace onnxar {

/// When local headers are proved.
enum class LocalHeaders : std::uint8_t {
  at_first_use,
  /// For who is going to look at all entries and at no data: read one by one, which takes a fraction of the time in
  /// which a mapping is entered at as many places. What is wrong with one is still told at its first use.
  read_at_once,
};

/// Opens the archive at `path` as it is while nobody edits it. Errors: as Archive::open.
Archive open_at_rest(const std::filesystem::path& path, const OpenOptions& options,
                     LocalHeaders headers = LocalHeaders::at_first_use);

/// Opens the archive in a part of an open file, whose path is for messages. Errors: as Archive::open.
Archive open_range(os::Handle file, const base::FilePart& part, const OpenOptions& options,
                   const std::filesystem::path& path = {}, LocalHeaders headers = LocalHeaders::at_first_use);

/// Maps and opens an archive that is open and locked, so that it stays as it is. Errors: as Archive::open;
/// archive.torn where an edit was interrupted: behind a whole state a local header begins, and no end record is last.
Archive open_locked(os::Handle file, const std::filesystem::path& path, const OpenOptions& options,
                    LocalHeaders headers = LocalHeaders::at_first_use);

/// The same error; or a better word for it where the end of `file` is at fault and its beginning is a whole state of an
/// archive, which `recover` finds: archive.torn, or the same code.
Error with_way_back(const Error& error, Bytes file, const OpenOptions& options = {});

/// Opens the file for writing and takes the exclusive lock of those who edit. Makes sure that the path still leads to
/// what was locked. Errors: archive.busy after a second; io.*.
os::File lock_for_editing(const std::filesystem::path& path);

/// Keeps edits off the file at `path` that another one is to replace, by a shared lock, so that none is lost: held from
/// before the input is read until the output has its name. Readers, who at most ask for a shared lock, are not kept
/// off. Invalid where there is nothing to lock: no regular file that may be read, a file system without locks. Errors:
/// archive.busy after a second.
os::File lock_for_replacing(const std::filesystem::path& path);

}  // namespace onnxar
