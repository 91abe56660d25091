// Resolves links of a model in an archive.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "source/entry_payloads.h"
#include "source/resolver.h"
#include "tensors/entry_uses.h"

namespace onnxar {

/// Links lead to entries of the archive.
class ArchiveResolver final : public Resolver {
 public:
  /// Selects the model, which may be a graph (Archive::graph). Errors: as Archive::model; zip.data.crc of the model,
  /// with LoadOptions::verify_data.
  ArchiveResolver(Archive archive, const LoadOptions& options);

  [[nodiscard]] Place place(std::optional<std::uint64_t> offset) const override;
  /// Replaces an error of the format by io.changed if the file was changed since it was opened.
  [[nodiscard]] Error with_place(const Error& error) const override;
  [[nodiscard]] std::uint64_t input_size() const override { return archive_.file().size(); }
  [[nodiscard]] const Archive* archive() const noexcept override { return &archive_; }
  [[nodiscard]] std::vector<std::string> graphs() const override;
  void select_graph(const std::string& name) override;
  void select_model() override;
  [[nodiscard]] SourceCompanions companions() override;

 private:
  Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override;
  void note_kept(const onnx::TensorSite& site) const override { uses_.note(site); }
  void select(const ArchiveEntry& entry);
  /// Whether the user chose one graph, so that the others are left alone.
  [[nodiscard]] bool is_one_of_several() const;
  [[nodiscard]] GraphBytes graph_of(const ArchiveEntry& entry) const;

  Archive archive_;
  EntryPayloads payloads_;
  mutable EntryUses uses_;          // mutable: proving a link notes its entry, and changes nothing a caller sees
  std::string selected_;            // the entry of the selected graph
  std::uint64_t graph_offset_ = 0;  // of the graph's first byte in the archive
};

}  // namespace onnxar
