// Reads entries whose links have a checksum that no model of the archive states.
#include "convert/kept_checksums.h"

#include "archive/external_tensor.h"
#include "archive/graphs.h"
#include "convert/checksum.h"
#include "onnx/sites.h"

namespace onnxar {

void KeptChecksums::prove(const Payload& payload) {
  const onnx::ExternalLink& link = *payload.kept_link;
  if (!verify_ || link.checksum.empty()) return;
  if (!known_) note_stated();
  if (known_->emplace(link.location, link.checksum).second) payload.source->read([](Bytes) {});
}

void KeptChecksums::note_stated() {
  known_.emplace();
  const auto note = [this](const onnx::TensorSite& site) {
    if (!site.tensor.is_external() || !site.tensor.external.checksum) return;
    const auto checksum = parse_checksum(*site.tensor.external.checksum);
    const auto [entry, part] = part_named(archive_, site.tensor, proved_link(site.tensor));
    if (checksum && part.size() == entry.size) known_->emplace(entry.name, *checksum);
  };
  for (const ArchiveEntry& graph : archive_.graphs()) walk_as_far_as_read(archive_, graph, note);
  walk_as_far_as_read(archive_, own_model_entry(archive_), note);
}

}  // namespace onnxar
