// Verifies the checksums in links to entries of an archive that its new model keeps.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "archive/access.h"
#include "convert/payload.h"
#include "onnxar/archive.h"
#include "onnxar/options.h"

namespace onnxar {

/// Verifies the checksums in links to entries of an archive that its new model keeps.
class KeptChecksums {
 public:
  KeptChecksums(const Archive& archive, const LoadOptions& load)
      : archive_(ArchiveAccess::share(archive)), verify_(load.verify_data) {}

  /// Reads the entry of a kept link if the link has a checksum that is not known yet, and throws
  /// onnx.external_data.checksum if it differs. Checksums in the links of the archive's models count as known, as far
  /// as these can be read: summing would read all weights in every edit. Does nothing without LoadOptions::verify_data.
  void prove(const Payload& payload);

 private:
  void note_stated();

  Archive archive_;
  bool verify_;
  std::optional<std::set<std::pair<std::string, std::string>>> known_;  // entries and their checksums
};

}  // namespace onnxar
