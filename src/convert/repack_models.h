// Reads the model and the graphs of a zip file that is repacked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "archive/zip_expansion.h"
#include "base/kept.h"
#include "base/keyed_hash.h"
#include "onnxar/bytes.h"
#include "zip/foreign_directory.h"

namespace onnxar {

/// Reads the models of the input. They are not edited, so they are read only if entries are renamed or left out, or if
/// the model has a name. Refers to all constructor arguments.
class RepackModels {
 public:
  using Names = base::KeyedSet<std::string>;

  /// Allows the graphs to inflate to `max_expansion` times the size of the file.
  RepackModels(base::Kept<Bytes> file, base::Kept<const zip::ForeignDirectory> directory, std::uint64_t max_expansion)
      : file_(file), directory_(directory), max_expansion_(max_expansion) {}

  /// Throws archive.model.too_large if an archive cannot hold a model of this size (P8).
  static void check_size(const zip::ForeignEntry& model);

  /// Returns the names of the entries that the model or a graph links to. A graph that cannot be read has no links.
  /// Throws wire.* and onnx.* of the model, zip.data.inflate and zip.limit.expansion.
  const Names& links(const zip::ForeignEntry& model);
  /// Returns the names of the entries that one graph links to.
  [[nodiscard]] Names links_of(const zip::ForeignEntry& graph) const;
  /// True if the model may have a name among the graphs. Throws zip.data.inflate. Cost: O(bytes), in constant memory.
  [[nodiscard]] bool may_have_name(const zip::ForeignEntry& model) const;
  /// Throws archive.graph.name, at the model, if the graph name in the model clashes with `names` (G4). Also throws
  /// wire.*.
  void prove_model_name(const zip::ForeignEntry& model, std::span<const std::string_view> names) const;
  /// Returns the inflated bytes of the model or of a graph, whose size the budget of the output allows. Throws
  /// zip.data.inflate and archive.model.too_large.
  [[nodiscard]] std::vector<std::byte> bytes_of(const zip::ForeignEntry& model) const;

 private:
  [[nodiscard]] Names links_of_graph(const zip::ForeignEntry& graph, ZipExpansion& expansion) const;

  Bytes file_;
  const zip::ForeignDirectory& directory_;
  std::uint64_t max_expansion_;
  std::optional<Names> links_;
};

}  // namespace onnxar
