// Reads any bytes as a safetensors file. They are refused as a fault of the format, or the tensors cover the data after
// the header, each with the length that its type and shape require. Another reader of JSON agrees about what is
// accepted.
#include "model/safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "archive/file_kind.h"
#include "base/little_endian.h"
#include "fuzz/fuzz.h"

namespace onnxar::fuzz::safetensors_target {
namespace {

using Json = nlohmann::json;
using Tensors = std::map<std::string, SafeTensor>;

constexpr std::size_t length_size = 8;

void check_cover(const Tensors& tensors, Bytes data) {
  std::vector<Bytes> parts;
  for (const auto& [name, tensor] : tensors) {
    require(payload_size(tensor.type, tensor.dims) == tensor.data.size(), "data has the length of its type and shape");
    if (!tensor.data.empty()) parts.push_back(tensor.data);
  }
  std::ranges::sort(parts, std::less(), [](Bytes part) { return part.data(); });
  const std::byte* end = data.data();
  for (const Bytes part : parts) {
    require(part.data() == end, "there are no holes and no overlaps");
    end += part.size();
  }
  require(end == data.data() + data.size(), "all data belongs to a tensor");
}

void check_header(const Tensors& tensors, Bytes header) {
  const Json read = Json::parse(as_text(header), nullptr, false);
  require(read.is_object(), "the header is JSON");
  std::size_t named = 0;
  for (const auto& [name, value] : read.items()) {
    if (name == "__metadata__") continue;
    const auto found = tensors.find(name);
    require(found != tensors.end(), "every tensor is found");
    require(value.at("shape").get<std::vector<std::int64_t>>() == found->second.dims, "with its shape");
    const auto offsets = value.at("data_offsets").get<std::vector<std::uint64_t>>();
    require(offsets.at(1) - offsets.at(0) == found->second.data.size(), "and its data");
    ++named;
  }
  require(named == tensors.size(), "nothing else is found");
}

}  // namespace

void run(Bytes input) {
  const auto tensors = accepted([&] { return parse_safetensors(input); });
  if (!tensors) return;
  require(safetensors_header(input).has_value(), "what is read looks as if it could be");
  const std::size_t length = base::load<std::uint64_t>(input, 0);
  check_cover(*tensors, input.subspan(length_size + length));
  check_header(*tensors, input.subspan(length_size, length));
}

}  // namespace onnxar::fuzz::safetensors_target
