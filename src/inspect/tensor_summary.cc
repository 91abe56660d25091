#include "inspect/tensor_summary.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "base/keyed_hash.h"
#include "graph/walk.h"
#include "inspect/file_map.h"
#include "onnx/sites.h"
#include "tensors/external_tensor.h"

namespace onnxar {
namespace {

using onnx::SiteKind;

std::string_view name_of(SiteKind kind) {
  switch (kind) {
    case SiteKind::initializer: return "initializer";
    case SiteKind::attribute: return "attribute";
    case SiteKind::sparse_values: return "sparse values";
    case SiteKind::sparse_indices: return "sparse indices";
    case SiteKind::function_default: return "function default";
    case SiteKind::training: return "training info";
  }
  return "";
}

/// Saturates, because dimensions may state any number of elements.
void add(std::uint64_t& sum, std::uint64_t more) { sum = base::checked_add(sum, more).value_or(UINT64_MAX); }

void add(TensorTotals& totals, std::uint64_t elements, std::uint64_t bytes) {
  ++totals.tensors;
  add(totals.elements, elements);
  add(totals.bytes, bytes);
}

/// Returns the names of running means and variances: inputs 3 and 4 of BatchNormalization, which are not trained.
base::KeyedSet<std::string_view> statistics_of(const schema::ModelProto& model) {
  constexpr int mean = 3;
  base::KeyedSet<std::string_view> names;
  for_each_node(model, [&names](const schema::NodeProto& node, const Site&) {
    if (node.op_type() != "BatchNormalization" || !onnx::is_default_domain(node.domain())) return;
    for (int i = mean; i < node.input_size(); ++i) names.insert(node.input(i));
  });
  return names;
}

class Sums {
 public:
  Sums(Inspection& inspection, std::size_t largest, base::KeyedSet<std::string_view> statistics)
      : inspection_(inspection), largest_(largest), statistics_(std::move(statistics)) {}

  void add_tensor(const onnx::TensorSite& site) {
    const onnx::TensorView& tensor = site.tensor;
    const std::uint64_t elements = payload_size(DataType::uint8, tensor.dims).value_or(0);
    const std::uint64_t bytes = data_bytes(tensor);
    add(inspection_.tensors, elements, bytes);
    add(by_type_[tensor.type], elements, bytes);
    add(by_site_[site.kind], elements, bytes);
    // Attributes are constants of the graph and indices are not trained, so neither counts as parameters.
    if (site.kind == SiteKind::initializer || site.kind == SiteKind::sparse_values) {
      add(statistics_.contains(tensor.name) ? inspection_.statistics : inspection_.parameters, elements);
    }
    keep_if_large(site, bytes);
  }

  void finish() {
    for (const auto& [type, totals] : by_type_) inspection_.by_type.emplace_back(type, totals);
    for (const auto& [kind, totals] : by_site_) inspection_.by_site.emplace_back(name_of(kind), totals);
    const auto bytes = [](const auto& row) { return row.second.bytes; };
    std::ranges::stable_sort(inspection_.by_type, std::ranges::greater(), bytes);
    std::ranges::stable_sort(inspection_.by_site, std::ranges::greater(), bytes);
    for (auto& [size, tensor] : large_) inspection_.largest.push_back({std::move(tensor), size});
  }

 private:
  /// Computes the size from type and dimensions, so that an external tensor counts even if its file is missing.
  static std::uint64_t data_bytes(const onnx::TensorView& tensor) {
    const auto expected = tensor.expected_size();
    if (expected) return *expected;
    return tensor.raw_data ? tensor.raw_data->size() : 0;
  }

  /// Keeps the list sorted and short during the walk, because a model may have millions of tensors.
  void keep_if_large(const onnx::TensorSite& site, std::uint64_t bytes) {
    if (largest_ == 0 || (large_.size() == largest_ && bytes <= std::prev(large_.end())->first)) return;
    large_.emplace(bytes, info_of(site));
    if (large_.size() > largest_) large_.erase(std::prev(large_.end()));
  }

  Inspection& inspection_;
  std::size_t largest_;
  base::KeyedSet<std::string_view> statistics_;
  std::map<DataType, TensorTotals> by_type_;
  std::map<SiteKind, TensorTotals> by_site_;
  std::multimap<std::uint64_t, TensorInfo, std::greater<>> large_;
};

}  // namespace

void add_tensors(Inspection& inspection, const std::filesystem::path& path, const Resolver& source,
                 const schema::ModelProto& proto, const InspectOptions& options) {
  Sums sums(inspection, options.largest, statistics_of(proto));
  FileMapper mapper(path, source, options.load);
  // The wire format gives each tensor the range of bytes that the map needs; parsed messages have none.
  onnx::walk_tensors(source.model(),
                     [&](const onnx::TensorSite& site) {
                       sums.add_tensor(site);
                       mapper.add(site);
                     },
                     {options.load.max_depth});
  sums.finish();
  std::vector<FileMap> files = std::move(mapper).finish(inspection.storage);
  if (options.files) inspection.files = std::move(files);
}

}  // namespace onnxar
