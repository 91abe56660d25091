// A model that is no archive and no `.onnx` file of today: in a zip of another maker, or in a folder of PyTorch's.
//
// Older dialects are told in today's words here: what stands for a tensor's data becomes a link to the entry or file of
// its name. From there on such a model is like any other with external data.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "archive/unpacked_zip.h"
#include "base/keyed_hash.h"
#include "onnxar/error.h"
#include "onnxar/options.h"
#include "skeleton/loaded_model.h"

namespace onnxar {

/// Not synchronised. Must be held by shared_ptr: payloads share it.
class ForeignSource : public std::enable_shared_from_this<ForeignSource> {
 public:
  /// The zip file at `path`. Errors: io.*, zip.*, archive.model.missing; wire.*, onnx.* of a model that PyTorch wrote.
  static std::shared_ptr<ForeignSource> open_zip(const std::filesystem::path& path, const LoadOptions& options);
  /// A folder that PyTorch wrote, by the path of the model in it.
  static std::shared_ptr<ForeignSource> open_folder(const std::filesystem::path& model, const LoadOptions& options);

  [[nodiscard]] Bytes model() const noexcept { return model_; }
  /// Further graphs of a zip: `NAME.onnx` beside the model; and making `model` the bytes of one, or the model's again.
  [[nodiscard]] std::vector<std::string> graphs() const;
  void select_graph(const std::string& name);
  void select_model() { select(zip_ ? zip_->model().index : 0, main_); }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// Of the zip file, or of the files in the folder that were opened so far.
  [[nodiscard]] std::uint64_t input_size() const;
  /// Where a byte of `model()` stands: without an offset where the model's bytes are not those of the file.
  [[nodiscard]] Place place(std::optional<std::uint64_t> offset) const;

  /// The bytes that `slice`, a link of `tensor`, names. Errors: onnx.external_data.*, zip.data.crc, io.*.
  Payload resolve(const onnx::TensorView& tensor, const onnx::ExternalSlice& slice);

  /// Adds to `model` a note on what this is, and the files of the zip that no payload is in, except graphs and those
  /// that a key would have the name of: the latter are left out, which is said.
  void describe(LoadedModel& model);

 private:
  explicit ForeignSource(const LoadOptions& options) : options_(options) {}
  void link_stand_ins();
  [[nodiscard]] std::optional<std::uint64_t> size_of(std::string_view tensor_name);
  [[nodiscard]] std::optional<std::size_t> find(std::string_view location) const;
  Payload resolve_in_zip(const onnx::TensorView& tensor, const onnx::ExternalSlice& slice);

  LoadOptions options_;
  std::filesystem::path path_;
  std::optional<UnpackedZip> zip_;
  std::optional<ExternalFiles> files_;  // of a folder
  std::shared_ptr<const void> owner_;   // of the model in a folder
  std::vector<std::byte> linked_;       // the model in today's words, where it was not
  void select(std::size_t index, Bytes bytes);

  Bytes model_;
  Bytes main_;                      // the model's, while a graph is selected
  std::size_t selected_ = 0;        // the entry of a zip that `model_` is
  std::set<std::size_t> verified_;  // entries of which only slices are used
};

}  // namespace onnxar
