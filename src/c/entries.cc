// The entries of an open archive: their description in the directory, and their bytes.
#include <cstddef>
#include <string>

#include "archive/keys.h"
#include "base/checked.h"
#include "base/text.h"
#include "c/arguments.h"
#include "c/errors.h"
#include "c/export.h"
#include "c/handles.h"
#include "c/prefetch.h"
#include "onnxar/archive.h"
#include "onnxar/error.h"

namespace onnxar::c {
namespace {

// Callers provide the memory of results, and do not state its size. These structs therefore never grow within an ABI.
static_assert(sizeof(void*) != 8 || (sizeof(onnxar_bytes) == 16 && sizeof(onnxar_entry) == 40));
static_assert(sizeof(onnxar_location) == 16);

/// C callers pass indices, not entries: an index cannot name an entry of a different archive.
ArchiveEntry entry_of(const onnxar_archive* archive, std::uint64_t index) {
  check_argument(archive != nullptr, "archive");
  const Archive& open = archive->archive;
  if (index < open.size()) return open.entry(base::in_memory(index));
  throw Error(Code::usage_no_such_entry,
              base::concat("entry ", index, " does not exist: the archive has ", open.size(), " entries"), {},
              open.path());
}

onnxar_entry c_entry(const ArchiveEntry& entry) {
  return {entry.index, entry.name.data(), entry.name.size(), entry.size, entry.crc32, 0};
}

}  // namespace
}  // namespace onnxar::c

using namespace onnxar;
using namespace onnxar::c;

ONNXAR_C_EXPORT uint64_t onnxar_count(const onnxar_archive* archive) {
  return archive == nullptr ? 0 : archive->archive.size();
}

ONNXAR_C_EXPORT onnxar_status onnxar_get_entry(const onnxar_archive* archive, uint64_t index, onnxar_entry* entry,
                                               onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(entry != nullptr, "entry");
    *entry = c_entry(entry_of(archive, index));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_find(const onnxar_archive* archive, const char* name, size_t name_length,
                                          onnxar_entry* entry, onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(archive != nullptr, "archive");
    check_argument(entry != nullptr, "entry");
    const std::string_view wanted = text_of(name, name_length, "name");
    const auto found = archive->archive.find(wanted);
    if (!found) {
      throw Error(Code::usage_no_such_entry, "the archive has no such entry", {std::string(wanted), std::nullopt},
                  archive->archive.path());
    }
    *entry = c_entry(*found);
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_next_graph(const onnxar_archive* archive, uint64_t from, onnxar_entry* entry,
                                                onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(archive != nullptr, "archive");
    check_argument(entry != nullptr, "entry");
    const Archive& open = archive->archive;
    for (std::uint64_t i = from; i < open.size(); ++i) {
      const ArchiveEntry candidate = open.entry(base::in_memory(i));
      if (!is_graph_name(candidate.name)) continue;
      *entry = c_entry(candidate);
      return;
    }
    throw Error(Code::usage_no_such_entry, base::concat("the archive has no graph at or after entry ", from), {},
                open.path());
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_locate(const onnxar_archive* archive, uint64_t index, onnxar_location* location,
                                            onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(location != nullptr, "location");
    const ArchiveEntry entry = entry_of(archive, index);
    const EntryLocation found = archive->archive.locate(entry);
    *location = {found.offset, found.alignment};
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_get_bytes(const onnxar_archive* archive, uint64_t index, onnxar_bytes* bytes,
                                               onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(bytes != nullptr, "bytes");
    const ArchiveEntry entry = entry_of(archive, index);
    *bytes = c_bytes(archive->archive.bytes(entry));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_read_entry(const onnxar_archive* archive, uint64_t index, void* buffer,
                                                size_t size, onnxar_error** error) {
  return guarded(error, [&] {
    const ArchiveEntry entry = entry_of(archive, index);
    // NULL is a valid buffer for an empty entry: callers may have allocated nothing.
    check_argument(buffer != nullptr || size == 0, "buffer");
    onnxar::read_entry(archive->archive, entry, {static_cast<std::byte*>(buffer), size});
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_model(const onnxar_archive* archive, onnxar_bytes* bytes, onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(archive != nullptr, "archive");
    check_argument(bytes != nullptr, "bytes");
    *bytes = c_bytes(archive->archive.model());
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_resolve(const onnxar_archive* archive, const char* location,
                                             size_t location_length, uint64_t offset, uint64_t length,
                                             onnxar_bytes* bytes, onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(archive != nullptr, "archive");
    check_argument(bytes != nullptr, "bytes");
    const std::string_view name = text_of(location, location_length, "location");
    *bytes = c_bytes(archive->archive.resolve(name, offset, length_of(length)));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_prefetch(const onnxar_archive* archive, uint64_t index, int32_t prefetch,
                                              onnxar_error** error) {
  return guarded(error, [&] {
    const ArchiveEntry entry = entry_of(archive, index);
    archive->archive.prefetch(entry, prefetch_of(prefetch));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_verify(const onnxar_archive* archive, uint64_t index, onnxar_error** error) {
  return guarded(error, [&] {
    const ArchiveEntry entry = entry_of(archive, index);
    archive->archive.verify(entry);
  });
}
