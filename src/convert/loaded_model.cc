// Finds the payloads of links, and notes what loading leaves out.
#include "convert/loaded_model.h"

#include <algorithm>
#include <random>

#include "archive/tensor_text.h"
#include "base/text.h"
#include "onnx/external_data.h"

namespace onnxar {

std::uint64_t new_model_id() {
  // All numbers have 19 digits. Otherwise the sizes of links, and of the messages around them, would be random.
  std::random_device random;
  return std::uniform_int_distribution<std::uint64_t>(1'000'000'000'000'000'000U, 9'999'999'999'999'999'999U)(random);
}

std::optional<Finding> note_of_left_out(const LoadedModel& model) {
  constexpr std::size_t most = 10;
  const std::size_t count = model.left_out.size();
  if (count == 0) return std::nullopt;
  std::string names;
  for (std::size_t i = 0; i < std::min(count, most); ++i) {
    names += base::concat(i == 0 ? "" : ", ", base::quoted(model.left_out[i]));
  }
  if (count > most) names += base::concat(" and ", count - most, " more");
  return Finding{Severity::note,
                 Code::archive_entry_unused,
                 {},
                 base::concat("left out, as no tensor refers to ", count == 1 ? "it: the entry " : "them: the entries ",
                              names, " (", base::human_size(model.left_out_bytes), ")")};
}

Finding no_data(const onnx::TensorSite& site, const PlacesWithoutData& places) {
  const auto found = places.find(site.path());
  return no_data(site, found == places.end() ? Place{} : found->second);
}

const Payload* LoadedModel::payload_of(const onnx::TensorSite& site) const {
  const auto location = site.tensor.linked_location();
  return location ? payload_at(*location) : nullptr;
}

const Payload* LoadedModel::payload_at(std::string_view location) const {
  const auto index = onnx::parse_memory_location(location, id);
  return index && *index < payloads.size() && payloads[*index].source ? &payloads[*index] : nullptr;
}

}  // namespace onnxar
