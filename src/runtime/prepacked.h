// Handles prepacked weights: copies of a weight in the layout of a kernel, which ONNX Runtime stores in the weight's
// data file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/kept.h"
#include "onnx/rope.h"
#include "onnx/tensor_view.h"
#include "onnxar/archive.h"
#include "onnxar/bytes.h"

namespace onnxar {

/// Returns the pairs `prepacked_N` of a linked tensor of `model`, as fields of a TensorProto. Converts their ranges,
/// which are relative to the data of the tensor's entry, to ranges of the archive's file, in which the archive begins
/// at `begin`. Throws onnx.external_data.out_of_range, without a place, if a range is not in the entry, and what
/// Archive::bytes throws.
std::string prepacked_fields(Bytes model, const onnx::TensorView& tensor, const Archive& archive, std::uint64_t begin);

/// Aligns the data of a model that ONNX Runtime stored: places each range at a multiple of 256 bytes, or of a page if
/// it has 1 MiB or more. ONNX Runtime (seen in 1.31) aligns only the large ranges but maps all of them, and kernels
/// crash, because they read prepacked weights with instructions that need aligned addresses. Not synchronised.
class AlignedData final : public ByteSource {
 public:
  /// `data` must be the bytes of the data file `location`.
  AlignedData(base::Kept<std::string_view> location, base::Kept<Bytes> data) : location_(location), data_(data) {}

  /// Returns the model with all its data, including prepacked weights, in new places, in the order of the model. Throws
  /// wire.* or onnx.* if the model is not what ONNX Runtime writes with this data.
  onnx::Rope move(base::Kept<Bytes> model);

  /// Returns the size of the data after `move`.
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  void read(const ByteSink& sink) const override;

 private:
  std::uint64_t place(std::uint64_t offset, std::uint64_t length, std::uint64_t tensor);

  std::string_view location_;
  Bytes data_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> begins_;  // offset and length -> new offset
  std::map<std::uint64_t, Bytes> ranges_;                                    // by their new offsets
  std::uint64_t taken_ = 0;                                                  // sum of the ranges' lengths
  std::uint64_t size_ = 0;
};

}  // namespace onnxar
