// Resolves the links of a model to payloads, and checks what their checksums and lengths promise.
#include "convert/model_source.h"

#include <utility>

#include "archive/external_tensor.h"
#include "archive/tensor_text.h"
#include "base/keyed_hash.h"
#include "base/sources.h"
#include "base/text.h"
#include "convert/checksum.h"
#include "onnx/typed_data.h"

namespace onnxar {
namespace {

bool has_bytes(const ByteSource& source, Bytes expected) {
  return source.size() == expected.size() && base::has_bytes(source, expected);
}

bool has_typed_bytes(const onnx::TensorSite& site, const ByteSource& linked) {
  const auto typed = onnx::typed_data_source(site.model, site.tensor);
  return typed && has_bytes(linked, base::gathered(*typed));
}

/// Proves that values in the message, which some versions of onnx leave beside the link, equal the link's data.
void prove_same_beside(const onnx::TensorSite& site, const ByteSource& linked) {
  const onnx::TensorView& tensor = site.tensor;
  const bool has_raw = tensor.raw_data && tensor.raw_data->size() != 0;
  if (!has_raw && !tensor.typed_data) return;
  const bool is_same = has_raw != tensor.typed_data &&
                       (has_raw ? has_bytes(linked, tensor.raw_data->of(site.model)) : has_typed_bytes(site, linked));
  if (is_same) return;
  throw Error(Code::onnx_external_data_beside,
              "the tensor's data is external, and the model also holds other data for it; ONNX Runtime takes the "
              "external data: remove the data in the model, or external_data and data_location",
              {"", tensor.range.begin});
}

}  // namespace

void ModelSource::select(const std::string& graph) {
  if (graph.empty()) return;
  throw Error(Code::usage_argument, base::concat("this model has no further graph ", base::quoted(graph)), {}, path_);
}

Place ModelSource::place(std::optional<std::uint64_t> offset) const {
  Place place{graph_.entry, std::nullopt};
  if (offset && graph_.begin) place.offset = *graph_.begin + *offset;
  return place;
}

Error ModelSource::with_place(const Error& error, const onnx::TensorSite* tensor) const {
  if (!error.path().empty() || !error.entry().empty()) return error;
  const std::string prefix = tensor == nullptr ? std::string() : describe(*tensor);
  return evidence()(base::annotate(error, {.prefix = prefix, .place = place(error.offset()), .path = path_}));
}

Resolved ModelSource::resolve(const onnx::TensorSite& site) {
  const auto find_and_prove = [&] {
    Resolved resolved = find(site, link_of(site.tensor));
    prove_same_beside(site, *resolved.payload.source);
    return resolved;
  };
  return placed(find_and_prove, &site);
}

void ModelSource::prove_link(const onnx::TensorSite& site) {
  placed([&] { static_cast<void>(link_of(site.tensor)); }, &site);
}

onnx::ExternalSlice ModelSource::link_of(const onnx::TensorView& tensor) const { return exported_link(tensor); }

Payload ModelSource::payload_of(const onnx::TensorSite& site) {
  Resolved resolved = resolve(site);
  auto claim = options_.verify_data ? claim_of(resolved, site) : std::nullopt;
  Payload& payload = resolved.payload;
  if (!claim) return std::move(payload);
  // Two different checksums of the same bytes cannot both be right.
  const auto [first, added] = claimed_.try_emplace(Extent(payload), claim->checksum);
  if (first->second != claim->checksum) throw claim->error(path_);
  payload.source = std::make_shared<ChecksumSource>(std::move(payload.source), std::move(claim->checksum),
                                                    std::move(claim->mismatch), path_);
  return std::move(payload);
}

std::optional<ChecksumClaim> ModelSource::claim_of(const Resolved& resolved, const onnx::TensorSite& site) const {
  // M22: a checksum covers a whole file or entry, so it does not apply to a slice.
  if (!site.tensor.external.checksum || !resolved.is_whole) return std::nullopt;
  auto checksum = parse_checksum(*site.tensor.external.checksum);
  if (!checksum) return std::nullopt;
  std::string message = base::concat(describe(site), ": the bytes of ", base::quoted(*site.tensor.external.location),
                                     " do not have the SHA-1 ", *checksum,
                                     " that the model gives: they were changed, or belong to a different model");
  return ChecksumClaim{std::move(*checksum),
                       {Severity::error, Code::onnx_external_checksum, place_of(site), std::move(message)}};  // M22
}

}  // namespace onnxar
