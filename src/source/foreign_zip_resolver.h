// Resolves links of a model in a zip file that is not an archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "archive/unpacked_zip.h"
#include "onnxar/bytes.h"
#include "onnxar/options.h"
#include "source/external_files.h"
#include "source/resolver.h"

namespace onnxar {

// Replaces stand-ins by links. In models of PyTorch's older exporter a short text stands in for a tensor's data, which
// is in an entry or file with the tensor's name.

/// The text that PyTorch's exporter wrote into `raw_data` of a tensor whose bytes are in the entry of the tensor's
/// name.
inline constexpr std::string_view stand_in = "__EXTERNAL";

/// Whether the bytes of the model contain `stand_in` as a field raw_data. Does not parse the messages around the field,
/// so the answer may be wrong for a model with the same bytes elsewhere; then `link_stand_ins` finds no tensor to link.
/// Errors: those of reading `model`. Cost: O(bytes), in constant memory.
bool may_have_stand_ins(const ByteSource& model);

/// The model with a link in place of each stand-in, so that later steps see an ordinary model with external data.
/// `size_of` returns the size of the data with a tensor's name; nothing if it does not exist. The result is in memory,
/// as a model without its large tensors is small. Errors: wire.*, onnx.*, counted from the model's first byte; those of
/// `size_of`.
std::vector<std::byte> link_stand_ins(Bytes model,
                                      const std::function<std::optional<std::uint64_t>(std::string_view)>& size_of,
                                      const LoadOptions& options);

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

// Resolves links of a model in a folder that PyTorch's older exporter wrote.

/// Each tensor's data is a file with the tensor's name. Stand-ins in the model become links to these files.
class ForeignFolderResolver final : public Resolver {
 public:
  /// `model` is the path of the model in the folder. Errors: io.*; wire.*, onnx.* of the model.
  ForeignFolderResolver(const std::filesystem::path& model, const LoadOptions& options);

  /// Without an offset once stand-ins became links: the graph's bytes are then not those of the file.
  [[nodiscard]] Place place(std::optional<std::uint64_t> offset) const override {
    return {"", is_linked_ ? std::nullopt : offset};
  }
  [[nodiscard]] std::uint64_t input_size() const override { return model().size() + files_.size(); }
  [[nodiscard]] std::vector<Finding> remarks() const override;

 private:
  Resolved find(const onnx::TensorSite& site, const onnx::ExternalSlice& slice) override;
  [[nodiscard]] std::optional<std::uint64_t> size_of(std::string_view tensor_name);

  ExternalFiles files_;
  bool is_linked_ = false;
};

}  // namespace onnxar
