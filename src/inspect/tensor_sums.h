// Sums up the tensors of a model by type and by site, and lists the largest.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string_view>

#include "base/kept.h"
#include "base/keyed_hash.h"
#include "inspect/inspection.h"
#include "onnx/sites.h"
#include "onnxar/onnx.pb.h"
#include "onnxar/tensor.h"

namespace onnxar {

/// Counts the elements and bytes of the tensors of one walk.
class TensorSums {
 public:
  TensorSums(base::Kept<Inspection> inspection, base::Kept<const schema::ModelProto> model);

  void add_tensor(const onnx::TensorSite& site);
  /// Writes the rows of types, sites and the largest tensors, each sorted by size. Call it once, after the last tensor.
  void finish();

 private:
  void keep_if_large(const onnx::TensorSite& site, std::uint64_t bytes);

  Inspection& inspection_;
  base::KeyedSet<std::string_view> statistics_;
  std::map<DataType, TensorTotals> by_type_;
  std::map<onnx::SiteKind, TensorTotals> by_site_;
  std::multimap<std::uint64_t, TensorInfo, std::greater<>> large_;
};

}  // namespace onnxar
