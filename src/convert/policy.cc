#include "convert/policy.h"

namespace onnxar {

MovePolicy MovePolicy::everything_inline() { return {}; }

MovePolicy MovePolicy::of(const SaveOptions& options) {
  if (options.format == Format::onnx_inline || options.format == Format::textproto) return everything_inline();
  MovePolicy policy;
  policy.threshold_ = options.raw_data_threshold;
  policy.all_sites_ = options.all_sites;
  policy.attributes_ = options.attributes;
  return policy;
}

MovePolicy MovePolicy::of(const LoadOptions& options) {
  MovePolicy policy;
  policy.threshold_ = options.raw_data_threshold;
  policy.all_sites_ = true;
  return policy;
}

bool MovePolicy::moves(const onnx::TensorSite& site, std::uint64_t size) const {
  if (!threshold_ || size < *threshold_ || size == 0) return false;
  const DataType type = site.tensor.type;
  if (type == DataType::string || site.tensor.segment) return false;
  if ((type == DataType::int32 || type == DataType::int64) && size < small_integers_below) return false;
  switch (site.kind) {
    case onnx::SiteKind::initializer: return true;
    case onnx::SiteKind::attribute: return attributes_;
    case onnx::SiteKind::sparse_indices: return false;
    case onnx::SiteKind::sparse_values:
    case onnx::SiteKind::function_default:
    case onnx::SiteKind::training: return all_sites_;
  }
  return false;
}

}  // namespace onnxar
