// Writes NumPy's file format, `.npy`, version 1.0 (numpy/lib/format.py describes it).
#include "convert/numpy_format.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "onnx/packed_elements.h"

namespace onnxar {
namespace {

/// Unpacks elements of 2, 4 or 6 bits to one byte each.
class SpreadSource final : public ByteSource {
 public:
  SpreadSource(std::shared_ptr<const ByteSource> packed, DataType type, std::uint64_t count)
      : packed_(std::move(packed)), type_(type), count_(count) {}

  [[nodiscard]] std::uint64_t size() const override { return count_; }

  void read(const ByteSink& sink) const override {
    onnx::PackedElements elements(type_, count_);
    std::vector<std::byte> piece;
    const auto add = [&](unsigned bits) { piece.push_back(static_cast<std::byte>(elements.value(bits))); };
    packed_->read([&](Bytes bytes) {
      for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), step))) {
        piece.clear();
        for (const std::byte byte : bytes.first(std::min(bytes.size(), step))) elements.add(byte, add);
        sink(piece);
      }
    });
  }

 private:
  static constexpr std::size_t step = 64U << 10U;

  std::shared_ptr<const ByteSource> packed_;
  DataType type_;
  std::uint64_t count_;
};

}  // namespace

NumpyType numpy_type(DataType type) {
  switch (type) {
    case DataType::float16: return {"<f2"};
    case DataType::float32: return {"<f4"};
    case DataType::float64: return {"<f8"};
    case DataType::complex64: return {"<c8"};
    case DataType::complex128: return {"<c16"};
    case DataType::boolean: return {"|b1"};
    case DataType::int8: return {"|i1"};
    case DataType::int16: return {"<i2"};
    case DataType::int32: return {"<i4"};
    case DataType::int64: return {"<i8"};
    case DataType::uint8: return {"|u1"};
    case DataType::uint16: return {"<u2"};
    case DataType::uint32: return {"<u4"};
    case DataType::uint64: return {"<u8"};
    case DataType::bfloat16: return {"<u2", true};
    case DataType::int4:
    case DataType::int2: return {"|i1", true};
    case DataType::uint4:
    case DataType::uint2:
    case DataType::float4e2m1:
    case DataType::float6e2m3:
    case DataType::float6e3m2:
    case DataType::float8e4m3fn:
    case DataType::float8e4m3fnuz:
    case DataType::float8e5m2:
    case DataType::float8e5m2fnuz:
    case DataType::float8e8m0: return {"|u1", true};
    case DataType::undefined:
    case DataType::string: break;
  }
  return {};
}

std::string numpy_header(const std::string& descr, const std::vector<std::int64_t>& dims) {
  constexpr std::size_t unit = 64;
  constexpr std::size_t before = 10;  // magic, version, length
  std::string shape;
  for (const std::int64_t dim : dims) shape += base::concat(shape.empty() ? "" : " ", dim, ",");
  if (dims.size() > 1) shape.pop_back();  // `(3,)`, but `(3, 4)`
  std::string text = base::concat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (", shape, "), }");
  // NumPy pads the header to a multiple of 64 bytes, so that the data of a mapped file is aligned.
  text.resize((before + text.size() + 1 + unit - 1) / unit * unit - before - 1, ' ');
  text += '\n';
  const auto length = static_cast<std::uint16_t>(text.size());
  const std::string magic = {
      '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<char>(length & 0xffU), static_cast<char>(length >> 8U)};
  return magic + text;
}

std::shared_ptr<const ByteSource> numpy_elements(std::shared_ptr<const ByteSource> payload, DataType type,
                                                 std::uint64_t count) {
  const unsigned bits = bits_per_element(type);
  if (bits == 0 || bits >= 8) return payload;
  return std::make_shared<SpreadSource>(std::move(payload), type, count);
}

}  // namespace onnxar
