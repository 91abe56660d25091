// The model and the graphs of a zip file that is repacked.
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

/// Reads the models of the input, which are not edited, only if entries get other names. Refers to all its arguments.
class RepackModels {
 public:
  using Names = base::KeyedSet<std::string>;

  /// The graphs may inflate to `max_expansion` times the file's bytes.
  RepackModels(Bytes file, const zip::ForeignDirectory& directory, std::uint64_t max_expansion,
               const ModelReading& reading)
      : file_(file), directory_(directory), max_expansion_(max_expansion), reading_(reading) {}

  /// Errors: archive.model.too_large, if no archive can hold a model of this size.
  static void check_size(const zip::ForeignEntry& model);

  /// The names of the entries that the model or a graph links to. A graph that cannot be read links to nothing.
  /// Errors: those of reading the model; zip.data.inflate, zip.limit.expansion.
  const Names& links(const zip::ForeignEntry& model);
  /// As `links`; a model that cannot be read links to nothing, either.
  const Names* links_if_readable(const zip::ForeignEntry& model);
  /// Whether the graph alone links to an entry.
  [[nodiscard]] bool has_links(const zip::ForeignEntry& graph) const;
  /// Refuses names of entries with which the model's own name clashes. Errors: archive.graph.name, at the model.
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
