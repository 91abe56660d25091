// The digest of an archive's content.
#include <string>

#include "c/arguments.h"
#include "c/errors.h"
#include "c/export.h"
#include "c/handles.h"
#include "onnxar/content.h"

struct onnxar_digest {  // NOLINT(readability-identifier-naming): a name of C
  std::string hex;
  std::string manifest;
};

using namespace onnxar;
using namespace onnxar::c;

ONNXAR_C_EXPORT onnxar_status onnxar_get_digest(const onnxar_archive* archive, uint64_t threads, onnxar_digest** digest,
                                                onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(archive != nullptr, "archive");
    check_argument(digest != nullptr, "digest");
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
