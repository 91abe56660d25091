// Opens and locks files that another process may be editing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/mapped_file.h"
#include "base/open_file.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/bytes.h"
#include "onnxar/error.h"
#include "os/file.h"

namespace onnxar {

/// Opens the archive at `path`, as Archive::open does.
Archive open_path(const std::filesystem::path& path, const OpenOptions& options);

/// States which errors get advice. Advice on the kind of a file needs its directory as a zip of any program, so a
/// caller that reads that directory next asks only for advice on a cut or unfinished edit.
enum class AdviceOn : std::uint8_t { all_faults, cuts };

/// Opens the archive in an open file, as Archive::open does. `mapping` is the mapping of the whole file, or null to map
/// it now. The archive has that mapping, unless the file has another size by now or must be read under a lock.
Archive open_archive(os::Handle file, const std::shared_ptr<const base::MappedFile>& mapping,
                     const std::filesystem::path& path, const OpenOptions& options,
                     AdviceOn advice = AdviceOn::all_faults);

/// Opens the archive in a part of an open file. `path` is used in messages only. Throws what Archive::open throws.
Archive open_range(os::Handle file, const base::FilePart& part, const OpenOptions& options,
                   const std::filesystem::path& path = {});

/// Maps and opens an archive whose file is open and locked, so that it does not change. Throws what Archive::open
/// throws, and archive.torn after an interrupted edit: a local header follows a complete state, and the file does not
/// end with an end record.
Archive open_locked(os::Handle file, const std::filesystem::path& path, const OpenOptions& options,
                    AdviceOn advice = AdviceOn::all_faults);

/// Proves the local headers of all entries, for callers that use all entries but read no data. Reads each header by a
/// system call, which is much faster than faulting in a page of the mapping for it. Does not report faults: the first
/// use of an entry reports them.
void read_local_headers(const Archive& archive);

/// Opens the file for writing, takes the editors' exclusive lock, and checks that the path still names the locked file
/// (X5). Throws archive.busy if the lock is not free within a second, and io.*.
os::File lock_for_editing(const std::filesystem::path& path);

/// Opens the file for reading and takes a shared lock, which excludes edits while one is planned. Checks that the path
/// still names the locked file. Returns the file without a lock if the file system does not support locks. Throws
/// archive.busy if the lock is not free within a second, and io.*.
os::File lock_for_planning(const std::filesystem::path& path);

}  // namespace onnxar
