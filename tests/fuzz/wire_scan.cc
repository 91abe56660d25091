// Walks any bytes as a ModelProto. The walk refuses them, or finds the same tensors each time, within their enclosing
// messages. Decoding typed data gives as many bytes as the shape requires. A rewrite that changes nothing returns the
// same bytes.
#include <algorithm>
#include <vector>

#include "fuzz/fuzz.h"
#include "onnx/rewrite.h"
#include "onnx/sites.h"
#include "onnx/tensor_values.h"
#include "onnx/typed_data.h"

namespace onnxar::fuzz::wire_scan_target {
namespace {

bool within(onnx::Range inner, onnx::Range outer) {
  return inner.begin <= inner.end && inner.begin >= outer.begin && inner.end <= outer.end;
}

void check_levels(const onnx::TensorSite& site) {
  onnx::Range outer = {0, site.model.size()};
  require(!site.levels.empty(), "a tensor lies in the model");
  for (const onnx::Level& level : site.levels) {
    require(within(level.field.whole, outer), "each level lies in the one above");
    require(within(level.field.value, level.field.whole), "a value lies in its field");
    outer = level.field.value;
  }
  require(site.tensor.range == outer, "the last level is the tensor");
}

void check_typed_data(const onnx::TensorSite& site) {
  const auto source = onnx::typed_data_source(site.model, site.tensor);
  if (!source) return;
  require(source->size() == site.tensor.expected_size(), "typed data is as long as the shape calls for");
  must("what converts exactly is what checkers call good", [&] { onnx::prove_values(site.model, site.tensor); });
  require(!onnx::surplus_values(site.model, site.tensor), "what converts exactly has no value too many");
  std::uint64_t size = 0;
  source->read([&size](Bytes piece) { size += piece.size(); });
  require(size == source->size(), "a source hands out as many bytes as it says");
}

void check_tensor(const onnx::TensorSite& site) {
  const onnx::TensorView& tensor = site.tensor;
  check_levels(site);
  require(!tensor.raw_data || within(*tensor.raw_data, tensor.range), "raw_data lies in its tensor");
  const Bytes all = tensor.range.of(site.model);
  require(lies_in(as_bytes(tensor.name), all), "the name lies in its tensor");
  for (const auto& text : {tensor.external.location, tensor.external.offset, tensor.external.length,
                           tensor.external.checksum, tensor.external.unknown_key}) {
    require(!text || lies_in(as_bytes(*text), all), "a link lies in its tensor");
  }
  require(std::ranges::none_of(tensor.dims, [](std::int64_t dim) { return dim < 0; }), "M17: no negative dimension");
  if (!tensor.raw_data) check_typed_data(site);
}

void check_all(Bytes model) {
  const auto visit = [&](const onnx::TensorSite& site) {
    check_tensor(site);
    require(!site.path().empty(), "each has a path");
  };
  onnx::walk_tensors(model, visit);
}

std::vector<std::byte> rewritten(Bytes model, const std::function<onnx::TensorEdit(const onnx::TensorSite&)>& decide) {
  return onnx::rewrite_tensors(model, decide).flat();
}

onnx::TensorEdit keep(const onnx::TensorSite& /*site*/) { return onnx::TensorEdit::keep(); }

onnx::TensorEdit put_back(const onnx::TensorSite& site) {
  if (!site.tensor.raw_data || !site.tensor.restorable) return onnx::TensorEdit::keep();
  return onnx::TensorEdit::put_inline(std::make_shared<SpanSource>(site.tensor.raw_data->of(site.model)));
}

}  // namespace

void run(Bytes input) {
  const auto read = accepted([&] {
    check_all(input);
    return true;
  });
  if (!read) return;
  if (is_turn(input, 0, 2)) require(std::ranges::equal(rewritten(input, keep), input), "a rewrite can change nothing");
  if (is_turn(input, 1, 2)) require(std::ranges::equal(rewritten(input, put_back), input), "data can be put back");
}

}  // namespace onnxar::fuzz::wire_scan_target
