// Computes the digest of an archive's content, which signatures cover.
//
//   std::cout << onnxar::digest(archive).hex << '\n';  // the same for every order and alignment of the entries
//
// Threads: calls are independent of each other.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "onnxar/archive.h"
#include "onnxar/bytes.h"

namespace ONNXAR_API onnxar {

/// The side file that holds a signature of the digest. The digest does not cover it.
inline constexpr std::string_view signature_entry_name = "onnxar.sig";

struct DigestOptions {
  std::size_t threads = 0;         ///< each hashes one entry at a time; 0: one for each core
  ProgressCallback progress = {};  ///< bytes of entries that were hashed
};

struct EntryDigest {
  std::string name;
  std::string hex;  ///< SHA-256 of the entry's bytes: 64 lower-case hexadecimal digits
};

/// The digest of an archive's content (spec/digest.md): of the names and bytes of all entries except the side file
/// `signature_entry_name`. It does not depend on the order of the entries, their offsets or the file's name.
struct Digest {
  std::string hex;                   ///< SHA-256 of the manifest
  std::vector<EntryDigest> entries;  ///< in ascending order of the names' bytes, the model under its own name

  /// Returns a line `HEX  NAME` for each entry, as sha256sum prints it for the unzipped archive.
  [[nodiscard]] std::string manifest() const;
};

/// Computes the digest. Reads all entries and compares their CRC-32s, so damaged data has no digest. With range
/// reading, one thread reads from front to back and keeps nothing. Throws zip.data.crc; io.changed (the file changed
/// meanwhile); what Archive::locate throws; wire.*, onnx.* (only if there is an entry `signature_entry_name`: only then
/// are graphs read). Cost: O(bytes), 1 to 2 GB/s per thread on CPUs with SHA-256 instructions; threads do not share an
/// entry. Memory: 1 MiB per thread, 16 MiB with range reading.
[[nodiscard]] Digest digest(const Archive& archive, const DigestOptions& options = {});

}  // namespace ONNXAR_API onnxar
