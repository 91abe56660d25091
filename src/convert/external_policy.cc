// Decides by size, type and site which tensors have their data outside the model.
#include "convert/external_policy.h"

#include "onnxar/tensor.h"

namespace onnxar {

ExternalPolicy ExternalPolicy::everything_inline() { return {}; }

ExternalPolicy ExternalPolicy::of(const SaveOptions& options) {
  if (options.format == Format::onnx_inline || options.format == Format::textproto) return everything_inline();
  ExternalPolicy policy;
  policy.threshold_ = options.threshold;
  policy.all_sites_ = options.all_sites;
  policy.attributes_ = options.attributes;
  policy.subgraphs_ = options.subgraphs;
  return policy;
}

ExternalPolicy ExternalPolicy::of(const LoadOptions& options) {
  ExternalPolicy policy;
  policy.threshold_ = options.threshold;
  policy.all_sites_ = true;
  return policy;
}

bool ExternalPolicy::is_external(const onnx::TensorSite& site, std::uint64_t size) const {
  if (!threshold_ || size < *threshold_ || size == 0) return false;  // a threshold of 0 does not make empty entries
  const DataType type = site.tensor.type;
  // Strings have no raw bytes, and external_data cannot describe a segment of a tensor.
  if (type == DataType::string || site.tensor.segment) return false;
  if ((type == DataType::int32 || type == DataType::int64) && size < small_integers_below) return false;
  if (!subgraphs_ && site.is_in_subgraph()) return false;
  switch (site.kind) {
    case onnx::SiteKind::initializer: return true;
    case onnx::SiteKind::attribute: return attributes_;
    case onnx::SiteKind::sparse_indices: return false;  // read by runtimes while they build the graph
    case onnx::SiteKind::sparse_values:
    case onnx::SiteKind::function_default:
    case onnx::SiteKind::training: return all_sites_;
  }
  return false;
}

}  // namespace onnxar
