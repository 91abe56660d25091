// A model in a zip file that is not an archive: one that another program made.
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

class ForeignZipResolver final : public Resolver {
 public:
  /// The zip file at `path`. Errors: io.*, zip.*, archive.model.missing; wire.*, onnx.* of a model that PyTorch wrote.
  ForeignZipResolver(const std::filesystem::path& path, const LoadOptions& options);

  [[nodiscard]] Place place(std::optional<std::uint64_t> offset) const override;
  [[nodiscard]] std::uint64_t input_size() const override { return zip_->file_size(); }
  /// `NAME.onnx` beside the model.
  [[nodiscard]] std::vector<std::string> graphs() const override;
  void select_graph(const std::string& name) override;
  void select_model() override;
  [[nodiscard]] std::vector<Finding> remarks() const override;
  /// With a warning for each entry that is left out because a key could have its name.
  [[nodiscard]] OtherEntries other_entries() override;

 private:
  Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override;
  [[nodiscard]] std::optional<std::size_t> index_of(std::string_view location) const;
  [[nodiscard]] Payload part(std::size_t index, Bytes part, std::size_t size_of_entry);
  void link_stand_ins();

  std::shared_ptr<UnpackedZip> zip_;  // payloads share it
  GraphBytes main_;                   // the model's, while another graph is selected
  bool is_main_linked_ = false;       // its stand-ins became links, so offsets mean nothing
  std::size_t selected_ = 0;          // the entry of the selected graph
  std::set<std::size_t> used_;        // entries that payloads are in
  std::set<std::size_t> verified_;    // entries of which only slices are used
};

}  // namespace onnxar
