// Counts the bytes of an output, and refuses more than a multiple of its input.
#include "convert/expansion.h"

#include <algorithm>

#include "base/text.h"

namespace onnxar {
namespace {

/// Returns the size of a model's input. Payloads that the model received in memory have no file, so they count as input
/// themselves.
std::uint64_t input_of(const LoadedModel& model) {
  std::vector<Bytes> places;
  for (const Payload& payload : model.payloads) places.push_back(payload.region());
  return std::max(model.input_size, distinct_bytes(places));
}

}  // namespace

std::uint64_t distinct_bytes(const std::vector<Bytes>& places) {
  std::vector<Extent> extents(places.begin(), places.end());
  std::ranges::sort(extents);
  std::uint64_t count = 0;
  std::uintptr_t end = 0;
  for (const Extent& extent : extents) {
    if (extent.end() <= end) continue;  // inside an earlier extent
    count += extent.end() - std::max(extent.begin(), end);
    end = extent.end();
  }
  return count;
}

Expansion::Expansion(std::uint64_t input, std::uint64_t most_times, Hint hint) noexcept
    : budget_(input, most_times), hint_(hint) {}

Expansion::Expansion(const LoadedModel& model) : Expansion(input_of(model), model.max_expansion) {
  if (model.source) path_ = model.source->path();
}

void Expansion::add(std::uint64_t bytes) {
  if (budget_.add(bytes)) return;
  throw Error(Code::onnx_model_expansion,
              base::concat("its tensors share bytes, overlap, or are many and tiny: the output would be more than ",
                           budget_.times(), " times the input of ", base::human_size(budget_.input())),
              {}, path_, {hint_});
}

}  // namespace onnxar
