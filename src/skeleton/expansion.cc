#include "skeleton/expansion.h"

#include <algorithm>
#include <functional>

#include "base/text.h"

namespace onnxar {
namespace {

/// Payloads that the model was given in memory have no file: they are their own input.
std::uint64_t input_of(const LoadedModel& model) {
  std::vector<Bytes> places;
  for (const Payload& payload : model.payloads) places.push_back(payload.span.bytes());
  return std::max(model.input_size, distinct_bytes(std::move(places)));
}

}  // namespace

std::uint64_t distinct_bytes(std::vector<Bytes> places) {
  std::ranges::sort(places, std::less(), [](Bytes bytes) { return bytes.data(); });
  std::uint64_t count = 0;
  const std::byte* end = nullptr;
  for (const Bytes bytes : places) {
    const std::byte* const begin = std::max(bytes.data(), end, std::less());
    const std::byte* const after = bytes.data() + bytes.size();
    if (!std::less()(begin, after)) continue;
    count += static_cast<std::uint64_t>(after - begin);
    end = after;
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
              base::concat("its tensors share bytes, or overlap: what is made of them would be more than ",
                           budget_.times(), " times the input of ", base::human_size(budget_.input())),
              {}, path_, {hint_});
}

void Expansion::add_once(const Payload& payload) {
  const Bytes bytes = payload.span.bytes();
  if (!bytes.empty() && seen_.emplace(bytes.data(), bytes.size()).second) add(payload);
}

}  // namespace onnxar
