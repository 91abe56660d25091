// Resolves links of a model in a zip file that is not an archive.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "archive/unpacked_zip.h"
#include "source/resolver.h"

namespace onnxar {

/// Links lead to entries beside the model, in its folder of the zip file.
class ForeignZipResolver final : public Resolver {
 public:
  /// Opens the zip file at `path`. Errors: io.*, zip.*, archive.model.missing; wire.*, onnx.* of a model that PyTorch
  /// wrote.
  ForeignZipResolver(const std::filesystem::path& path, const LoadOptions& options);

  [[nodiscard]] Place place(std::optional<std::uint64_t> offset) const override;
  [[nodiscard]] std::uint64_t input_size() const override { return zip_->file_size(); }
  /// The entries `NAME.onnx` beside the model.
  [[nodiscard]] std::vector<std::string> graphs() const override;
  void select_graph(const std::string& name) override;
  void select_model() override;
  [[nodiscard]] std::vector<Finding> remarks() const override;
  /// Remarks on each entry that is left out because its name could be a tensor's key.
  [[nodiscard]] SourceCompanions companions() override;

 private:
  Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override;
  [[nodiscard]] std::optional<std::size_t> index_of(std::string_view location) const;
  [[nodiscard]] Payload part(std::size_t index, Bytes part, std::size_t size_of_entry);
  void link_stand_ins();

  std::shared_ptr<UnpackedZip> zip_;  // shared with payloads
  GraphBytes main_;                   // the model's bytes, also while a further graph is selected
  bool is_main_linked_ = false;       // stand-ins became links, so offsets are not those of the file
  std::size_t selected_ = 0;          // the entry of the selected graph
  std::set<std::size_t> used_;        // entries with payloads
  std::set<std::size_t> verified_;    // entries of slices, each verified once
};

}  // namespace onnxar
