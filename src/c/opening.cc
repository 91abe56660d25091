// Opening and closing archives, and shares in their memory.
#include <atomic>
#include <cstddef>
#include <memory>

#include "base/text.h"
#include "c/arguments.h"
#include "c/errors.h"
#include "c/export.h"
#include "c/handles.h"
#include "c/prefetch.h"
#include "c/sized_struct.h"
#include "onnxar/archive.h"
#include "onnxar/error.h"
#include "os/names.h"

struct onnxar_owner {  // NOLINT(readability-identifier-naming): a name of C
  std::shared_ptr<const void> share;
  std::atomic<std::size_t> count = 1;
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

}  // namespace
}  // namespace onnxar::c

using namespace onnxar;
using namespace onnxar::c;

ONNXAR_C_EXPORT onnxar_status onnxar_is_archive(uint32_t abi, const char* path, int* is_archive, onnxar_error** error) {
  return guarded(error, [&] {
    check_abi(abi);
    check_argument(path != nullptr, "path");
    check_argument(is_archive != nullptr, "is_archive");
    *is_archive = onnxar::is_archive(os::path_of(path)) ? 1 : 0;
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_open_path(uint32_t abi, const char* path, const onnxar_open_options* options,
                                               onnxar_archive** archive, onnxar_error** error) {
  return guarded(error, [&] {
    check_abi(abi);
    check_argument(path != nullptr, "path");
    check_argument(archive != nullptr, "archive");
    *archive = new onnxar_archive{Archive::open(os::path_of(path), open_options_of(options))};
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_open_descriptor(uint32_t abi, onnxar_native_handle descriptor, uint64_t offset,
                                                     uint64_t length, const onnxar_open_options* options,
                                                     onnxar_archive** archive, onnxar_error** error) {
  return guarded(error, [&] {
    check_abi(abi);
    check_argument(archive != nullptr, "archive");
    *archive = new onnxar_archive{Archive::open({descriptor, offset, length_of(length)}, open_options_of(options))};
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_open_memory(uint32_t abi, const void* data, size_t size,
                                                 void (*release)(void* context), void* context,
                                                 const onnxar_open_options* options, onnxar_archive** archive,
                                                 onnxar_error** error) {
  return guarded(error, [&] {
    check_abi(abi);
    check_argument(data != nullptr, "data");
    check_argument(archive != nullptr, "archive");
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
    check_argument(archive != nullptr, "archive");
    check_argument(graph != nullptr, "graph");
    *graph = new onnxar_archive{archive->archive.graph(text_of(name, name_length, "name"))};
  });
}

ONNXAR_C_EXPORT void onnxar_close(onnxar_archive* archive) { delete archive; }

ONNXAR_C_EXPORT onnxar_status onnxar_get_owner(const onnxar_archive* archive, onnxar_owner** owner,
                                               onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(archive != nullptr, "archive");
    check_argument(owner != nullptr, "owner");
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
