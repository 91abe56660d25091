// Opens files that another process may be editing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/open_file.h"
#include "onnxar/archive.h"
#include "onnxar/random_access.h"
#include "os/file.h"

namespace onnxar {

/// When local headers are read and proved.
enum class LocalHeaders : std::uint8_t {
  at_first_use,
  /// For callers that use all entries but do not read data. Reads the headers one by one, which is much faster than
  /// faulting in a page of the mapping for each. The first use of an entry still reports a fault in its header.
  read_at_once,
};

/// Opens the archive at `path` in a state that is not being edited. Errors: as Archive::open.
Archive open_at_rest(const std::filesystem::path& path, const OpenOptions& options,
                     LocalHeaders headers = LocalHeaders::at_first_use);

/// Opens the archive at the address `path`, if `open_ranges` is set and gives a file for it. Errors: as Archive::open.
std::optional<Archive> open_by_ranges(const std::filesystem::path& path, const RangesOpener& open_ranges);

/// Opens the archive in a part of an open file. `path` is used in messages only. Errors: as Archive::open.
Archive open_range(os::Handle file, const base::FilePart& part, const OpenOptions& options,
                   const std::filesystem::path& path = {}, LocalHeaders headers = LocalHeaders::at_first_use);

/// Maps and opens an archive whose file is open and locked, so that it does not change. Errors: as Archive::open;
/// archive.torn after an interrupted edit: a local header follows a complete state, and the file does not end with an
/// end record.
Archive open_locked(os::Handle file, const std::filesystem::path& path, const OpenOptions& options,
                    LocalHeaders headers = LocalHeaders::at_first_use);

/// Returns `error`. If the fault is in the end of `file` and a prefix of it is a complete state of an archive, adds the
/// hint to `recover`; after an interrupted edit the code then is archive.torn (X9).
Error with_recover_hint(const Error& error, Bytes file, const OpenOptions& options = {});

/// Opens the file for writing, takes the editors' exclusive lock, and checks that the path still names the locked file
/// (X5). Errors: archive.busy after a second; io.*.
os::File lock_for_editing(const std::filesystem::path& path);

/// Opens the file for reading and takes a shared lock, which excludes edits while one is planned. Checks that the path
/// still names the locked file. Returns the file without a lock if the file system does not support locks.
/// Errors: archive.busy after a second; io.*.
os::File lock_for_planning(const std::filesystem::path& path);

/// Takes a shared lock on the file at `path`, which is going to be replaced (X8). The caller holds it from before the
/// input is read until the output has the name: it excludes edits, which would be lost. Readers are not excluded,
/// because they take shared locks at most. Returns an invalid file if nothing can be locked: `path` is not a regular
/// file that may be read, or the file system does not support locks. Errors: archive.busy after a second; io.*.
os::File lock_for_replacing(const std::filesystem::path& path);

}  // namespace onnxar
