// Counts tensors, their elements and bytes, and separates trained parameters from statistics.
#include "inspect/tensor_sums.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "archive/tensor_text.h"
#include "base/checked.h"
#include "base/kept.h"
#include "model/walk.h"
#include "onnx/external_data.h"
#include "onnx/operators.h"

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

/// Computes the size from type and dimensions, so that an external tensor counts even if its file is missing.
std::uint64_t data_bytes(const onnx::TensorView& tensor) {
  const auto expected = tensor.expected_size();
  if (expected) return *expected;
  return tensor.raw_data ? tensor.raw_data->size() : 0;
}

}  // namespace

TensorSums::TensorSums(base::Kept<Inspection> inspection, base::Kept<const schema::ModelProto> model)
    : inspection_(inspection), statistics_(statistics_of(model)) {}

void TensorSums::add_tensor(const onnx::TensorSite& site) {
  const onnx::TensorView& tensor = site.tensor;
  const std::uint64_t elements = payload_size(DataType::uint8, tensor.dims).value_or(0);
  const std::uint64_t bytes = data_bytes(tensor);
  add(inspection_.tensors, elements, bytes);
  add(by_type_[tensor.type], elements, bytes);
  add(by_site_[site.kind], elements, bytes);
  // Runtimes take the value of a Constant node for an initializer. Other attributes are settings of their nodes, and
  // indices are not trained.
  const std::string_view output = site.constant_output();
  if (site.kind == SiteKind::initializer || site.kind == SiteKind::sparse_values || !output.empty()) {
    const bool is_statistic = statistics_.contains(output.empty() ? std::string_view(tensor.name) : output);
    add(is_statistic ? inspection_.statistics : inspection_.parameters, elements);
  }
  keep_if_large(site, bytes);
}

void TensorSums::finish() {
  for (const auto& [type, totals] : by_type_) inspection_.by_type.emplace_back(type, totals);
  for (const auto& [kind, totals] : by_site_) inspection_.by_site.emplace_back(name_of(kind), totals);
  const auto bytes = [](const auto& row) { return row.second.bytes; };
  std::ranges::stable_sort(inspection_.by_type, std::ranges::greater(), bytes);
  std::ranges::stable_sort(inspection_.by_site, std::ranges::greater(), bytes);
  for (auto& [size, tensor] : large_) inspection_.largest.push_back({std::move(tensor), size});
}

/// Keeps the list sorted and short during the walk, because a model may have millions of tensors.
void TensorSums::keep_if_large(const onnx::TensorSite& site, std::uint64_t bytes) {
  constexpr std::size_t most = 10;
  if (large_.size() == most && bytes <= std::prev(large_.end())->first) return;
  large_.emplace(bytes, info_of(site));
  if (large_.size() > most) large_.erase(std::prev(large_.end()));
}

}  // namespace onnxar
