// Finds the data of a model in a zip file that is not an archive, or in a folder that PyTorch exported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "archive/foreign_zip.h"
#include "convert/model_source.h"
#include "onnxar/bytes.h"
#include "onnxar/options.h"

namespace onnxar {

/// Links lead to entries beside the model, in its folder of the zip file.
class ForeignZipSource final : public ModelSource {
 public:
  /// Opens the zip file at `path`. Errors: io.*, zip.*, archive.model.missing; wire.*, onnx.* of a model that PyTorch
  /// wrote.
  ForeignZipSource(const std::filesystem::path& path, const LoadOptions& options);

  /// The entries `NAME.onnx` beside the model.
  [[nodiscard]] std::vector<std::string> graphs() const override;
  void select(const std::string& graph) override;
  /// Remarks on each entry that is left out because its name could be a tensor's key.
  [[nodiscard]] SourceCompanions companions() override;
  [[nodiscard]] std::uint64_t input_size() const override { return zip_->file_size(); }

 private:
  Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override;
  [[nodiscard]] GraphBytes graph_of(std::size_t index) const;
  [[nodiscard]] std::optional<std::size_t> index_of(std::string_view location) const;
  [[nodiscard]] Payload part(std::size_t index, Bytes part, std::size_t size_of_entry);
  void link_stand_ins();

  std::shared_ptr<UnpackedZip> zip_;  // shared with payloads
  GraphBytes main_;                   // the model, also while a further graph is selected
  std::set<std::size_t> used_;        // entries with payloads
  std::set<std::size_t> verified_;    // entries of slices, each verified once
};

/// Opens a folder that PyTorch's older exporter wrote: each tensor's data is a file with the tensor's name, and
/// stand-ins in the model, which is at `model`, become links to these files. Errors: io.*; wire.*, onnx.* of the model.
std::unique_ptr<ModelSource> open_foreign_folder(const std::filesystem::path& model, const LoadOptions& options);

}  // namespace onnxar
