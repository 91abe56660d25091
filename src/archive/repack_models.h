// Reads the model and the graphs of a zip file that is repacked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "archive/model_reading.h"
#include "archive/zip_expansion.h"
#include "base/keyed_hash.h"
#include "onnxar/bytes.h"
#include "zip/foreign_directory.h"

namespace onnxar {

/// Reads the models of the input. They are not edited, so they are read only if entries are renamed or left out. Refers
/// to all constructor arguments.
class RepackModels {
 public:
  using Names = base::KeyedSet<std::string>;

  /// The graphs may inflate to `max_expansion` times the size of the file.
  RepackModels(Bytes file, const zip::ForeignDirectory& directory, std::uint64_t max_expansion,
               const ModelReading& reading)
      : file_(file), directory_(directory), max_expansion_(max_expansion), reading_(reading) {}

  /// Checks that an archive can hold a model of this size (P8). Errors: archive.model.too_large.
  static void check_size(const zip::ForeignEntry& model);

  /// Returns the names of the entries that the model or a graph links to. A graph that cannot be read has no links.
  /// Errors: as ModelReading::linked_names for the model; zip.data.inflate, zip.limit.expansion.
  const Names& links(const zip::ForeignEntry& model);
  /// As `links`, but returns null if the model cannot be read.
  const Names* links_if_readable(const zip::ForeignEntry& model);
  /// Whether this graph links to an entry.
  [[nodiscard]] bool has_links(const zip::ForeignEntry& graph) const;
  /// Checks that the graph name in the model does not clash with `names`. Errors: archive.graph.name, at the model.
  void prove_model_name(const zip::ForeignEntry& model, std::span<const std::string_view> names) const;

 private:
  [[nodiscard]] Names links_of_graph(const zip::ForeignEntry& graph, ZipExpansion& expansion) const;
  [[nodiscard]] std::vector<std::byte> bytes_of(const zip::ForeignEntry& model) const;

  Bytes file_;
  const zip::ForeignDirectory& directory_;
  std::uint64_t max_expansion_;
  const ModelReading& reading_;
  std::optional<Names> links_;
};

}  // namespace onnxar
