// Counts the bytes and parameters of each graph of an archive.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/front_end.h"
#include "archive/graphs.h"
#include "archive/keys.h"
#include "base/checked.h"
#include "base/keyed_hash.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "onnxar/tensor.h"

namespace onnxar {
namespace {

bool is_parameter(const onnx::TensorSite& site) {
  return site.kind == onnx::SiteKind::initializer || site.kind == onnx::SiteKind::sparse_values ||
         !site.constant_output().empty();
}

/// Holds a row for each graph, before its tensors are counted, and the index of each row by the name of the graph's
/// entry.
struct Rows {
  std::vector<GraphTotals> graphs;
  base::KeyedMap<std::string_view, std::size_t> places;

  explicit Rows(const Archive& archive) {
    for (const ArchiveEntry& graph : all_graphs(archive)) {
      places.emplace(graph.name, graphs.size());
      const bool is_model = graph.name == model_entry_name;
      graphs.push_back(
          {is_model ? name_of_model(archive).value_or("") : std::string(stem_of_graph(graph.name)), graph.size});
    }
  }
};

}  // namespace

std::vector<GraphTotals> totals_of_graphs(const Archive& archive, const Listing& listing) {
  if (archive.graphs().empty()) return {};
  Rows rows(archive);
  for (const ListedEntry& entry : listing.entries) {
    for (const std::string& graph : entry.graphs) {
      GraphTotals& row = rows.graphs[rows.places.at(graph)];
      row.weight_bytes += entry.size;
      if (entry.graphs.size() > 1) row.shared_bytes += entry.size;
    }
  }
  walk_readable_graphs(archive, [&](const ArchiveEntry& graph, const onnx::TensorSite& site) {
    if (!is_parameter(site)) return;
    std::uint64_t& sum = rows.graphs[rows.places.at(graph.name)].parameters;
    const std::uint64_t elements = payload_size(DataType::uint8, site.tensor.dims).value_or(0);
    sum = base::checked_add(sum, elements).value_or(UINT64_MAX);  // dims may state any number
  });
  return std::move(rows.graphs);
}

}  // namespace onnxar
