// Makes links to one archive: rewrites the model and its graphs with locations in the archive's file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/expansion.h"
#include "convert/followed_links.h"
#include "convert/links.h"
#include "convert/open.h"
#include "onnx/duplicates.h"
#include "onnx/rewrite.h"
#include "onnx/rope.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"
#include "onnxar/link.h"

namespace onnxar {

/// Rewrites the model of an archive, or one graph after another, so that its links name ranges of the archive's
/// file. What holds for all graphs is read once. Not synchronised.
class Linking {
 public:
  /// Opens the archive and selects its graph `graph`. Links lead to the archive in its own file, or to a copy of the
  /// archive in a file named `copy`. Throws what `make_link` throws.
  Linking(const std::filesystem::path& archive, const LinkOptions& options, const std::string& graph,
          std::optional<std::string_view> copy = std::nullopt, LinkForm form = LinkForm::link);

  /// Makes the link of this graph, which replaces the previous one. An empty name means the model. The link states that
  /// the archive is in `folder`, a path relative to the link's folder, or beside the link if `folder` is empty.
  void select(const std::string& graph, std::string folder = {});

  /// Returns, for each graph, the name that `select` takes and the path of its file in a folder of models. The model
  /// comes first; its file has its name among the graphs or, without one, the stem of the archive. Throws
  /// usage.argument if a graph has that name.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> graphs() const;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] std::filesystem::path folder() const { return path_.parent_path(); }
  [[nodiscard]] std::string archive_name() const;
  [[nodiscard]] const Archive& archive() const noexcept { return source_->archive(); }
  [[nodiscard]] const onnx::Rope& model() const noexcept { return model_; }
  [[nodiscard]] std::uint64_t tensors() const noexcept { return tensors_; }
  [[nodiscard]] const std::vector<Finding>& remarks() const noexcept { return remarks_; }
  [[nodiscard]] LinkReport report(const std::filesystem::path& written) const {
    return {tensors_, nested_, model_.size(), written, remarks_};
  }

 private:
  onnx::TensorEdit edit(const onnx::TensorSite& site);
  void remark_duplicate(const onnx::TensorSite& site);

  std::filesystem::path path_;
  std::uint64_t begin_;  // offset of the archive in the file
  LinkForm form_;
  std::string selected_;
  std::unique_ptr<ArchiveSource> source_;
  std::string name_;                  // of the archive's file
  std::optional<LinkMarker> marker_;  // the metadata that every link gets, if any
  FollowedLinks followed_;
  onnx::DuplicateNames duplicates_;
  std::vector<Finding> remarks_;
  Expansion expansion_;  // covers all links together
  onnx::Rope model_;
  std::uint64_t tensors_ = 0;
  std::uint64_t nested_ = 0;  // those that are not initializers of the main graph
};

}  // namespace onnxar
