// Prepacked weights: copies of a weight in the layout of a kernel, which ONNX Runtime stores in the data file of the
// weight.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "onnx/splice.h"
#include "onnx/tensor_view.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// The pairs `prepacked_N` of a linked tensor of `model`, as fields of a TensorProto. Their ranges, which count from
/// the data of the tensor's entry, count in the archive's file afterwards, in which the archive begins at `begin`.
/// Errors: onnx.external_data.out_of_range (a range is not in the entry), without a place; as Archive::bytes.
std::string prepacked_fields(Bytes model, const onnx::TensorView& tensor, const Archive& archive, std::uint64_t begin);

/// The data of a model that ONNX Runtime stored, with each range at a multiple of 256 bytes, or of a page from 1 MiB
/// on. ONNX Runtime (seen in 1.31) aligns only the latter, but maps all of them, and kernels crash: they read prepacked
/// weights with instructions that need aligned addresses. Not synchronised.
class AlignedData final : public ByteSource {
 public:
  /// `data` are the bytes of the data file `location`. Both must outlive this object.
  AlignedData(std::string_view location, Bytes data) : location_(location), data_(data) {}

  /// The model with all its data, prepacked weights included, in new places; they get them in the order of the model.
  /// `model` must outlive the result. Errors: wire.*, onnx.* (it is not what ONNX Runtime writes with this data).
  onnx::Rope move(Bytes model);

  /// Of the data that `move` was called for.
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  void read(const ByteSink& sink) const override;

 private:
  std::uint64_t place(std::uint64_t offset, std::uint64_t length, std::uint64_t tensor);

  std::string_view location_;
  Bytes data_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> begins_;  // of ranges: offset, length
  std::map<std::uint64_t, Bytes> ranges_;                                    // by where they begin
  std::uint64_t taken_ = 0;                                                  // sum of the ranges' lengths
  std::uint64_t size_ = 0;
};

}  // namespace onnxar
