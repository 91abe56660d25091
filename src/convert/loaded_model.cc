// Decides which data is outside a model, and limits the bytes of an output.
#include "convert/loaded_model.h"

#include <algorithm>
#include <random>

#include "archive/external_tensor.h"
#include "archive/graphs.h"
#include "base/text.h"
#include "onnx/duplicates.h"
#include "onnx/external_data.h"
#include "onnx/fields.h"

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

ExternalPolicy ExternalPolicy::everything_inline() { return {}; }

ExternalPolicy ExternalPolicy::of(const SaveOptions& options) {
  if (options.format == Format::onnx_inline || options.format == Format::textproto) return everything_inline();
  ExternalPolicy policy;
  policy.threshold_ = options.threshold;
  policy.all_sites_ = options.all_sites;
  policy.attributes_ = options.attributes;
  policy.subgraphs_ = options.subgraphs;
  return policy;
}

ExternalPolicy ExternalPolicy::of(const LoadOptions& options) {
  ExternalPolicy policy;
  policy.threshold_ = options.threshold;
  policy.all_sites_ = true;
  return policy;
}

bool ExternalPolicy::is_external(const onnx::TensorSite& site, std::uint64_t size) const {
  if (!threshold_ || size < *threshold_ || size == 0) return false;  // a threshold of 0 does not make empty entries
  const DataType type = site.tensor.type;
  // Strings have no raw bytes, and external_data cannot describe a segment of a tensor.
  if (type == DataType::string || site.tensor.segment) return false;
  if ((type == DataType::int32 || type == DataType::int64) && size < small_integers_below) return false;
  if (!subgraphs_ && site.is_in_subgraph()) return false;
  switch (site.kind) {
    case onnx::SiteKind::initializer: return true;
    case onnx::SiteKind::attribute: return attributes_;
    case onnx::SiteKind::sparse_indices: return false;  // read by runtimes while they build the graph
    case onnx::SiteKind::sparse_values:
    case onnx::SiteKind::function_default:
    case onnx::SiteKind::training: return all_sites_;
  }
  return false;
}

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
  if (!site.tensor.is_external() || !site.tensor.external.location) return nullptr;
  return payload_at(*site.tensor.external.location);
}

const Payload* LoadedModel::payload_at(std::string_view location) const {
  const auto index = onnx::parse_memory_location(location, id);
  return index && *index < payloads.size() && payloads[*index].source ? &payloads[*index] : nullptr;
}

void refuse_duplicate(const onnx::TensorSite& site, const std::filesystem::path& path, Hint hint) {
  throw Error(Code::onnx_graph_duplicate,
              duplicate_text(site,
                             "the place of the data decides which definition a runtime uses, so the data stays "
                             "there; give each definition a name of its own"),
              {}, path, {hint});
}

void refuse_duplicates_outside(const LoadedModel& model, const std::filesystem::path& path, Hint hint) {
  onnx::DuplicateNames duplicates;
  const auto look = [&](const onnx::TensorSite& site) {
    const Payload* const payload = model.payload_of(site);
    if (payload != nullptr && payload->size() != 0 && duplicates.has(site)) refuse_duplicate(site, path, hint);
  };
  onnx::walk_tensors(model.skeleton, look);
}

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

void Expansion::add_once(const Payload& payload) {
  if (payload.size() != 0 && seen_.emplace(payload).second) add(payload);
}

}  // namespace onnxar
