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

struct Seen {
  onnx::SiteKind kind = onnx::SiteKind::initializer;
  onnx::Range range;
  bool operator==(const Seen&) const = default;
};

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

std::vector<Seen> scan(Bytes model, std::size_t depth) {
  std::vector<Seen> all;
  const auto visit = [&all](const onnx::TensorSite& site) { all.push_back({site.kind, site.tensor.range}); };
  onnx::walk_tensors(model, visit, {depth});
  return all;
}

std::vector<Seen> check_all(Bytes model) {
  std::vector<Seen> all;
  const auto visit = [&](const onnx::TensorSite& site) {
    check_tensor(site);
    require(!site.path().empty(), "each has a path");
    all.push_back({site.kind, site.tensor.range});
  };
  onnx::walk_tensors(model, visit, {100});
  return all;
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
  const auto tensors = accepted([&] { return check_all(input); });
  if (!tensors) return;
  if (is_turn(input, 0, 4)) require(scan(input, 1000) == *tensors, "a larger limit of depth finds the same");
  const auto shallow = is_turn(input, 1, 4) ? accepted([&] { return scan(input, 6); }) : std::nullopt;
  require(!shallow || *shallow == *tensors, "a smaller limit refuses or finds the same");
  if (is_turn(input, 2, 4)) require(std::ranges::equal(rewritten(input, keep), input), "a rewrite can change nothing");
  if (is_turn(input, 3, 4)) require(std::ranges::equal(rewritten(input, put_back), input), "data can be put back");
}

}  // namespace onnxar::fuzz::wire_scan_target
