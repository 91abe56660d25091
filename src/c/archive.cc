// Opens archives for C, and returns their entries, tensors, digests and shares in their memory.
#include "onnxar/archive.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/access.h"
#include "archive/keys.h"
#include "base/checked.h"
#include "base/kept.h"
#include "base/near_names.h"
#include "base/text.h"
#include "c/boundary.h"
#include "c/sized_struct.h"
#include "onnxar/error.h"
#include "onnxar/listing.h"
#include "onnxar/tensors.h"
#include "os/names.h"

struct onnxar_owner {  // NOLINT(readability-identifier-naming): a name of C
  std::shared_ptr<const void> share;
  std::atomic<std::size_t> count = 1;
};

struct onnxar_tensors {  // NOLINT(readability-identifier-naming): a name of C
  explicit onnxar_tensors(const onnxar::Archive& of)
      : archive(onnxar::ArchiveAccess::share(of)), index(archive), given(index.size()) {}

  onnxar::Archive archive;
  onnxar::TensorIndex index;
  // Guards `given`: the header promises that several threads may ask one list for bytes at once.
  std::mutex mutex;
  /// The spans that callers have views of. A span keeps decoded values alive, and a second call returns the same
  /// address.
  std::vector<std::optional<onnxar::ByteSpan>> given;
};

struct onnxar_digest {  // NOLINT(readability-identifier-naming): a name of C
  std::string hex;
  std::string manifest;
};

namespace onnxar::c {
namespace {

// The size of the struct in the first header of this ABI: no caller has a shorter one. It may grow at its end.
constexpr std::size_t first_open_options = offsetof(onnxar_open_options, num_threads) + sizeof(std::uint64_t);
static_assert(sizeof(void*) != 8 || first_open_options == 48);
static_assert(sizeof(onnxar_open_options) >= first_open_options);

OpenOptions open_options_of(const onnxar_open_options* given) {
  const onnxar_open_options known = known_part(given, first_open_options);
  OpenOptions options;
  // A limit of 0 would refuse every archive, so 0 means the default.
  if (known.max_entries != 0) options.max_entries = known.max_entries;
  if (known.max_directory_size != 0) options.max_directory_size = known.max_directory_size;
  if (known.max_model_size != 0) options.max_model_size = known.max_model_size;
  options.prefetch = prefetch_of(known.prefetch);
  options.copy_in = known.copy_in != 0;
  options.threads = thread_count(known.num_threads);
  return options;
}

/// Calls `release` when the last share in the caller's memory is gone. `release` stays null until opening has
/// succeeded: after a failure the caller still owns the memory.
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

static_assert(sizeof(void*) != 8 || sizeof(onnxar_tensor) == 56);

const StoredTensor& tensor_of(const onnxar_tensors* tensors, std::uint64_t index) {
  check_argument(tensors != nullptr, "tensors");
  if (index < tensors->index.size()) return tensors->index[base::in_memory(index)];
  throw Error(Code::usage_no_such_tensor,
              base::concat("tensor ", index, " does not exist: the model has ", tensors->index.size(), " tensors"), {},
              tensors->archive.path());
}

onnxar_tensor c_tensor(const StoredTensor& tensor) {
  return {tensor.name.data(),
          tensor.name.size(),
          tensor.site.data(),
          tensor.site.size(),
          tensor.dims.data(),
          tensor.dims.size(),
          static_cast<std::int32_t>(tensor.type),
          0};
}

Bytes bytes_of_tensor(onnxar_tensors& tensors, std::uint64_t index) {
  const StoredTensor& tensor = tensor_of(&tensors, index);
  // Decoded data is kept in the handle, so that its bytes live as long. Under the lock, two threads that ask for one
  // tensor get the same bytes.
  const std::scoped_lock lock(tensors.mutex);
  std::optional<ByteSpan>& given = tensors.given[base::in_memory(index)];
  if (!given) given = tensor_data(tensors.archive, tensor);
  return given->bytes();
}

std::uint64_t number_of(const onnxar_tensors& tensors, std::string_view name, bool describe) {
  if (const auto* found = tensors.index.find(name)) return static_cast<std::uint64_t>(found - tensors.index.begin());
  base::NearNames near(name);
  if (describe) {  // a caller that only asks whether a tensor exists does not wait for a walk over all names
    for (const StoredTensor& tensor : tensors.index) near.consider(tensor.name);
  }
  throw Error(Code::usage_no_such_tensor,
              base::concat("no tensor of the model has the name ", base::quoted(name), near.text()), {},
              tensors.archive.path());
}

}  // namespace
}  // namespace onnxar::c

using namespace onnxar;
using namespace onnxar::c;

// --- Opening ---------------------------------------------------------------------------------------------------------

ONNXAR_C_EXPORT onnxar_status onnxar_is_archive(uint32_t abi, const char* path, int* is_archive, onnxar_error** error) {
  return guarded(abi, error, [&] {
    check_given("path", path, "is_archive", is_archive);
    *is_archive = onnxar::is_archive(os::path_of(path)) ? 1 : 0;
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_open_path(uint32_t abi, const char* path, const onnxar_open_options* options,
                                               onnxar_archive** archive, onnxar_error** error) {
  return guarded(abi, error, [&] {
    check_given("path", path, "archive", archive);
    *archive = new onnxar_archive{Archive::open(os::path_of(path), open_options_of(options))};
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_open_descriptor(uint32_t abi, onnxar_native_handle descriptor, uint64_t offset,
                                                     uint64_t length, const onnxar_open_options* options,
                                                     onnxar_archive** archive, onnxar_error** error) {
  return guarded(abi, error, [&] {
    check_argument(archive != nullptr, "archive");
    *archive = new onnxar_archive{Archive::open({descriptor, offset, length_of(length)}, open_options_of(options))};
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_open_memory(uint32_t abi, const void* data, size_t size,
                                                 void (*release)(void* context), void* context,
                                                 const onnxar_open_options* options, onnxar_archive** archive,
                                                 onnxar_error** error) {
  return guarded(abi, error, [&] {
    check_given("data", data, "archive", archive);
    // Released is armed last: if anything below throws, its destructor must not release memory that the caller keeps.
    const auto owner = std::make_shared<Released>();
    const Bytes bytes(static_cast<const std::byte*>(data), size);
    auto open = std::make_unique<onnxar_archive>(Archive::open(bytes, owner, open_options_of(options)));
    owner->release = release;
    owner->context = context;
    *archive = open.release();
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_open_graph(const onnxar_archive* archive, const char* name, size_t name_length,
                                                onnxar_archive** graph, onnxar_error** error) {
  return guarded(error, [&] {
    check_given("archive", archive, "graph", graph);
    *graph = new onnxar_archive{archive->archive.graph(text_of(name, name_length, "name"))};
  });
}

ONNXAR_C_EXPORT void onnxar_close(onnxar_archive* archive) { delete archive; }

ONNXAR_C_EXPORT onnxar_status onnxar_get_owner(const onnxar_archive* archive, onnxar_owner** owner,
                                               onnxar_error** error) {
  return guarded(error, [&] {
    check_given("archive", archive, "owner", owner);
    *owner = new onnxar_owner{archive->archive.owner()};
  });
}

ONNXAR_C_EXPORT void onnxar_owner_retain(onnxar_owner* owner) {
  // Relaxed: the caller already holds a share, so the count cannot reach 0 during this call.
  if (owner != nullptr) owner->count.fetch_add(1, std::memory_order_relaxed);
}

ONNXAR_C_EXPORT void onnxar_owner_release(onnxar_owner* owner) {
  // Acquire and release: every use of the memory in other threads comes before the last release frees it.
  if (owner != nullptr && owner->count.fetch_sub(1, std::memory_order_acq_rel) == 1) delete owner;
}

// --- Entries ---------------------------------------------------------------------------------------------------------

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
    check_given("archive", archive, "entry", entry);
    *entry = c_entry(entry_named(archive->archive, text_of(name, name_length, "name")));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_next_graph(const onnxar_archive* archive, uint64_t from, onnxar_entry* entry,
                                                onnxar_error** error) {
  return guarded(error, [&] {
    check_given("archive", archive, "entry", entry);
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
    check_given("archive", archive, "bytes", bytes);
    *bytes = c_bytes(archive->archive.model());
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_resolve(const onnxar_archive* archive, const char* location,
                                             size_t location_length, uint64_t offset, uint64_t length,
                                             onnxar_bytes* bytes, onnxar_error** error) {
  return guarded(error, [&] {
    check_given("archive", archive, "bytes", bytes);
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

// --- Tensors, as TensorIndex has them --------------------------------------------------------------------------------

ONNXAR_C_EXPORT onnxar_status onnxar_get_tensors(const onnxar_archive* archive, onnxar_tensors** tensors,
                                                 onnxar_error** error) {
  return guarded(error, [&] {
    check_given("archive", archive, "tensors", tensors);
    *tensors = new onnxar_tensors(archive->archive);
  });
}

ONNXAR_C_EXPORT void onnxar_tensors_free(onnxar_tensors* tensors) { delete tensors; }

ONNXAR_C_EXPORT uint64_t onnxar_tensor_count(const onnxar_tensors* tensors) {
  return tensors == nullptr ? 0 : tensors->index.size();
}

ONNXAR_C_EXPORT onnxar_status onnxar_get_tensor(const onnxar_tensors* tensors, uint64_t index, onnxar_tensor* tensor,
                                                onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(tensor != nullptr, "tensor");
    *tensor = c_tensor(tensor_of(tensors, index));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_get_tensor_bytes(onnxar_tensors* tensors, uint64_t index, onnxar_bytes* bytes,
                                                      onnxar_error** error) {
  return guarded(error, [&] {
    check_given("tensors", tensors, "bytes", bytes);
    *bytes = c_bytes(bytes_of_tensor(*tensors, index));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_get_tensor_entry(const onnxar_tensors* tensors, uint64_t index,
                                                      onnxar_entry* entry, onnxar_error** error) {
  return guarded(error, [&] {
    check_given("tensors", tensors, "entry", entry);
    const Archive& archive = tensors->archive;
    const std::optional<ArchiveEntry> found = tensor_entry(archive, tensor_of(tensors, index));
    *entry = c_entry(found ? *found : archive.model_entry());
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_lookup(const onnxar_tensors* tensors, const char* name, size_t name_length,
                                            uint64_t* index, onnxar_error** error) {
  return guarded(error, [&] {
    check_given("tensors", tensors, "index", index);
    *index = number_of(*tensors, text_of(name, name_length, "name"), error != nullptr);
  });
}

// --- The digest of an archive's content ------------------------------------------------------------------------------

ONNXAR_C_EXPORT onnxar_status onnxar_get_digest(const onnxar_archive* archive, uint64_t threads, onnxar_digest** digest,
                                                onnxar_error** error) {
  return guarded(error, [&] {
    check_given("archive", archive, "digest", digest);
    const Digest found = onnxar::digest(archive->archive, {.threads = thread_count(threads)});
    *digest = new onnxar_digest{found.hex, found.manifest()};
  });
}

ONNXAR_C_EXPORT const char* onnxar_digest_hex(const onnxar_digest* digest) {
  return digest == nullptr ? "" : digest->hex.c_str();
}

ONNXAR_C_EXPORT const char* onnxar_digest_manifest(const onnxar_digest* digest) {
  return digest == nullptr ? "" : digest->manifest.c_str();
}

ONNXAR_C_EXPORT void onnxar_digest_free(onnxar_digest* digest) { delete digest; }
