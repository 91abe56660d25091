#include "base/crc32.h"

#ifdef ONNXAR_HAVE_ISAL
#include <isa-l.h>
#else
#include <zlib.h>
#endif

namespace onnxar::base {

std::uint32_t crc32(std::uint32_t crc, Bytes bytes) noexcept {
#ifdef ONNXAR_HAVE_ISAL
  return crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
#else
  return static_cast<std::uint32_t>(::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
#endif
}

}  // namespace onnxar::base
