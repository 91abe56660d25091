// Hands out the bytes of an archive for copying it.
#pragma once

#include <cstdint>
#include <functional>

#include "archive/access.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// Hands out the bytes of an archive, and compares the CRC-32s of the entries while they are read. Reading throws
/// zip.data.crc and io.changed.
class CopiedArchive final : public ByteSource {
 public:
  explicit CopiedArchive(const Archive& archive) : archive_(ArchiveAccess::share(archive)) {}
  [[nodiscard]] std::uint64_t size() const override { return archive_.file().size(); }
  void read(const ByteSink& sink) const override;
  void locate(const std::function<void(const Location&)>& visit) const override;

 private:
  Archive archive_;
};

}  // namespace onnxar
