// Opens files that another process may be editing.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/open_file.h"
#include "onnxar/archive.h"
#include "os/file.h"

namespace onnxar {

/// When local headers are read and proved.
enum class LocalHeaders : std::uint8_t {
  at_first_use,
  /// For callers that will look at all entries and at no data. Headers are read one by one, which is much faster than
  /// faulting in a page of the mapping for each. A fault in a header is still reported at the first use of the entry.
  read_at_once,
};

/// Opens the archive at `path` in a state that no edit has under way. Errors: as Archive::open.
Archive open_at_rest(const std::filesystem::path& path, const OpenOptions& options,
                     LocalHeaders headers = LocalHeaders::at_first_use);

/// Opens the archive in a part of an open file. `path` is only for messages. Errors: as Archive::open.
Archive open_range(os::Handle file, const base::FilePart& part, const OpenOptions& options,
                   const std::filesystem::path& path = {}, LocalHeaders headers = LocalHeaders::at_first_use);

/// Maps and opens an archive whose file is open and locked, so that it does not change. Errors: as Archive::open;
/// archive.torn after an interrupted edit: a local header follows a whole state, and the file has no end record at its
/// end.
Archive open_locked(os::Handle file, const std::filesystem::path& path, const OpenOptions& options,
                    LocalHeaders headers = LocalHeaders::at_first_use);

/// `error`, with the hint to `recover` if the fault is in the end of `file` and a prefix of it is a whole state of an
/// archive. The code then is archive.torn (X9) after an interrupted edit, else that of `error`.
Error annotate_end(const Error& error, Bytes file, const OpenOptions& options = {});

/// Opens the file for writing, takes the exclusive lock of editors, and makes sure that the path still leads to the
/// locked file (X5). Errors: archive.busy after a second; io.*.
os::File lock_for_editing(const std::filesystem::path& path);

/// Opens the file for reading and keeps edits off it, by a shared lock, while one is planned. Makes sure that the path
/// still leads to what was opened. Where the file system has no locks, there is none. Errors: archive.busy after a
/// second; io.*.
os::File lock_for_planning(const std::filesystem::path& path);

/// Takes a shared lock on the file at `path`, which another file is going to replace (X8). Held from before the input
/// is read until the output has the name, it keeps out edits, which would be lost. It does not hinder readers, which
/// ask for a shared lock at most. Returns an invalid file if there is nothing to lock: no regular file that may be
/// read, or a file system without locks. Errors: archive.busy after a second.
os::File lock_for_replacing(const std::filesystem::path& path);

}  // namespace onnxar
