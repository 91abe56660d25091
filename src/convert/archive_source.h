// Finds the data of a model in the archive that contains the model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "archive/entry_uses.h"
#include "convert/entry_payloads.h"
#include "convert/model_source.h"
#include "onnx/external_data.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/options.h"

namespace onnxar {

/// Resolves links to entries of the archive.
class ArchiveSource final : public ModelSource {
 public:
  /// Selects the model, which may be a graph (Archive::graph). Throws what Archive::model throws; with
  /// LoadOptions::verify_data also zip.data.crc if the model's CRC-32 is wrong.
  /// `chosen` are the graphs that the user chose, the model first; if there are none, all are used.
  ArchiveSource(Archive archive, const LoadOptions& options, std::vector<ArchiveEntry> chosen);

  [[nodiscard]] const Archive& archive() const noexcept { return archive_; }
  [[nodiscard]] std::vector<std::string> graphs() const override;
  void select(const std::string& graph) override;
  [[nodiscard]] SourceCompanions companions() override;
  [[nodiscard]] std::uint64_t input_size() const override { return archive_.file().size(); }
  void prove_link(const onnx::TensorSite& site) override;

 private:
  Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override;
  [[nodiscard]] Evidence evidence() const override;
  [[nodiscard]] onnx::ExternalSlice link_of(const onnx::TensorView& tensor) const override;
  /// True if the user chose graphs, so that the others are ignored.
  [[nodiscard]] bool has_choice() const;
  [[nodiscard]] GraphBytes graph_of(const ArchiveEntry& entry) const;

  Archive archive_;
  EntryPayloads payloads_;
  EntryUses uses_;
  std::vector<ArchiveEntry> chosen_;
};

/// Returns the archive that contains the model of `source`; null if the model is not in an archive.
const Archive* archive_of(const ModelSource& source);

}  // namespace onnxar
