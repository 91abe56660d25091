#include "onnxar/onnxar_c.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "c/calls.h"
#include "c/handles.h"
#include "c/sized_struct.h"
#include "onnxar/archive.h"
#include "onnxar/version.h"

// The C interface: each function proves its arguments, and calls one of Archive's.

struct onnxar_owner {  // NOLINT(readability-identifier-naming): a name of C
  std::shared_ptr<const void> share;
  std::atomic<std::size_t> count = 1;
};

namespace onnxar::c {
namespace {

using base::concat;

void check_abi(std::uint32_t abi) {
  if (abi == ONNXAR_C_ABI) return;
  throw Error(Code::usage_argument,
              concat("the caller was compiled against version ", abi, " of onnxar_c.h, this library (",
                     ONNXAR_VERSION_STRING, ") has version ", ONNXAR_C_ABI, "; compile it anew, or install the other"));
}

std::string_view text_of(const char* text, std::size_t length) {
  return length == ONNXAR_TERMINATED ? std::string_view(text) : std::string_view(text, length);
}

std::optional<std::uint64_t> length_of(std::uint64_t length) {
  return length == ONNXAR_TO_END ? std::nullopt : std::optional(length);
}

Prefetch prefetch_of(std::int32_t number) {
  switch (number) {
    case ONNXAR_PREFETCH_NONE: return Prefetch::none;
    case ONNXAR_PREFETCH_WILL_NEED: return Prefetch::will_need;
    case ONNXAR_PREFETCH_POPULATE: return Prefetch::populate;
    default: throw Error(Code::usage_argument, concat("there is no way to prefetch that has the number ", number));
  }
}

// What callers of ABI 1 were compiled with. Options may grow at their end; results may not, as callers give their
// memory.
constexpr std::size_t first_options_size = offsetof(onnxar_open_options, num_threads) + sizeof(std::uint64_t);
static_assert(sizeof(void*) != 8 || first_options_size == 48);
static_assert(sizeof(onnxar_open_options) >= first_options_size);
static_assert(sizeof(void*) != 8 || (sizeof(onnxar_bytes) == 16 && sizeof(onnxar_entry) == 40));
static_assert(sizeof(onnxar_location) == 16);

OpenOptions options_of(const onnxar_open_options* given) {
  const onnxar_open_options known = known_part(given, first_options_size);
  OpenOptions options;
  if (known.max_entries != 0) options.max_entries = known.max_entries;
  if (known.max_directory_size != 0) options.max_directory_size = known.max_directory_size;
  if (known.max_model_size != 0) options.max_model_size = known.max_model_size;
  options.prefetch = prefetch_of(known.prefetch);
  options.copy_in = known.copy_in != 0;
  options.threads = known.num_threads;
  return options;
}

ArchiveEntry entry_of(const onnxar_archive* archive, std::uint64_t index) {
  check_argument(archive != nullptr, "archive");
  const Archive& open = archive->archive;
  if (index < open.size()) return open.entry(index);
  throw Error(Code::usage_no_such_entry, concat("there is no entry ", index, " among ", open.size()), {}, open.path());
}

onnxar_entry c_entry(const ArchiveEntry& entry) {
  return {entry.index, entry.name.data(), entry.name.size(), entry.size, entry.crc32, 0};
}

onnxar_bytes c_bytes(Bytes bytes) { return {bytes.data(), bytes.size()}; }

/// What a caller wants to be told when nobody needs its memory any more; nothing while `release` is null.
struct Released {
  void (*release)(void*) = nullptr;
  void* context = nullptr;
  Released() = default;
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;
  ~Released() {
    if (release != nullptr) release(context);
  }
};

}  // namespace
}  // namespace onnxar::c

// Of a file that has nothing to keep apart.
// NOLINTBEGIN(google-build-using-namespace,google-global-names-in-headers)
using namespace onnxar;
using namespace onnxar::c;
// NOLINTEND(google-build-using-namespace,google-global-names-in-headers)

const char* onnxar_version() { return ONNXAR_VERSION_STRING; }
std::uint32_t onnxar_c_abi() { return ONNXAR_C_ABI; }

onnxar_status onnxar_open_path(uint32_t abi, const char* path, const onnxar_open_options* options,
                               onnxar_archive** archive, onnxar_error** error) {
  return guarded(error, [&] {
    check_abi(abi);
    check_argument(path != nullptr, "path");
    check_argument(archive != nullptr, "archive");
    *archive = new onnxar_archive{Archive::open(path, options_of(options))};
  });
}

onnxar_status onnxar_open_descriptor(uint32_t abi, int descriptor, uint64_t offset, uint64_t length,
                                     const onnxar_open_options* options, onnxar_archive** archive,
                                     onnxar_error** error) {
  return guarded(error, [&] {
    check_abi(abi);
    check_argument(archive != nullptr, "archive");
    *archive = new onnxar_archive{Archive::open({descriptor, offset, length_of(length)}, options_of(options))};
  });
}

onnxar_status onnxar_open_memory(uint32_t abi, const void* data, size_t size, void (*release)(void* context),
                                 void* context, const onnxar_open_options* options, onnxar_archive** archive,
                                 onnxar_error** error) {
  return guarded(error, [&] {
    check_abi(abi);
    check_argument(data != nullptr, "data");
    check_argument(archive != nullptr, "archive");
    const auto owner = std::make_shared<Released>();
    const Bytes bytes(static_cast<const std::byte*>(data), size);
    auto open = std::make_unique<onnxar_archive>(Archive::open(bytes, owner, options_of(options)));
    owner->release = release;
    owner->context = context;
    *archive = open.release();
  });
}

void onnxar_close(onnxar_archive* archive) { delete archive; }

uint64_t onnxar_count(const onnxar_archive* archive) { return archive == nullptr ? 0 : archive->archive.size(); }

onnxar_status onnxar_get_entry(const onnxar_archive* archive, uint64_t index, onnxar_entry* entry,
                               onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(entry != nullptr, "entry");
    *entry = c_entry(entry_of(archive, index));
  });
}

onnxar_status onnxar_find(const onnxar_archive* archive, const char* name, size_t name_length, onnxar_entry* entry,
                          onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(archive != nullptr, "archive");
    check_argument(name != nullptr, "name");
    check_argument(entry != nullptr, "entry");
    const std::string_view wanted = text_of(name, name_length);
    const auto found = archive->archive.find(wanted);
    if (!found) {
      throw Error(Code::usage_no_such_entry, "the archive has no such entry", {std::string(wanted), std::nullopt},
                  archive->archive.path());
    }
    *entry = c_entry(*found);
  });
}

onnxar_status onnxar_locate(const onnxar_archive* archive, uint64_t index, onnxar_location* location,
                            onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(location != nullptr, "location");
    const ArchiveEntry entry = entry_of(archive, index);
    const EntryLocation found = archive->archive.locate(entry);
    *location = {found.offset, found.alignment};
  });
}

onnxar_status onnxar_get_bytes(const onnxar_archive* archive, uint64_t index, onnxar_bytes* bytes,
                               onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(bytes != nullptr, "bytes");
    const ArchiveEntry entry = entry_of(archive, index);
    *bytes = c_bytes(archive->archive.bytes(entry));
  });
}

onnxar_status onnxar_model(const onnxar_archive* archive, onnxar_bytes* bytes, onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(archive != nullptr, "archive");
    check_argument(bytes != nullptr, "bytes");
    *bytes = c_bytes(archive->archive.model());
  });
}

onnxar_status onnxar_resolve(const onnxar_archive* archive, const char* location, size_t location_length,
                             uint64_t offset, uint64_t length, onnxar_bytes* bytes, onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(archive != nullptr, "archive");
    check_argument(location != nullptr, "location");
    check_argument(bytes != nullptr, "bytes");
    *bytes = c_bytes(archive->archive.resolve(text_of(location, location_length), offset, length_of(length)));
  });
}

onnxar_status onnxar_prefetch(const onnxar_archive* archive, uint64_t index, int32_t prefetch, onnxar_error** error) {
  return guarded(error, [&] {
    const ArchiveEntry entry = entry_of(archive, index);
    archive->archive.prefetch(entry, prefetch_of(prefetch));
  });
}

onnxar_status onnxar_verify(const onnxar_archive* archive, uint64_t index, onnxar_error** error) {
  return guarded(error, [&] {
    const ArchiveEntry entry = entry_of(archive, index);
    archive->archive.verify(entry);
  });
}

onnxar_status onnxar_get_owner(const onnxar_archive* archive, onnxar_owner** owner, onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(archive != nullptr, "archive");
    check_argument(owner != nullptr, "owner");
    *owner = new onnxar_owner{archive->archive.owner()};
  });
}

void onnxar_owner_retain(onnxar_owner* owner) {
  if (owner != nullptr) owner->count.fetch_add(1, std::memory_order_relaxed);
}

void onnxar_owner_release(onnxar_owner* owner) {
  if (owner != nullptr && owner->count.fetch_sub(1, std::memory_order_acq_rel) == 1) delete owner;
}
