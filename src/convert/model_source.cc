#include "convert/model_source.h"

#include "archive/external_tensor.h"
#include "base/errors.h"
#include "base/text.h"

namespace onnxar {
namespace {

/// Errors of inner layers count from the model's first byte and name neither a file nor an entry.
bool is_placed(const Error& error) { return !error.path().empty() || !error.entry().empty(); }

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

Error ModelSource::with_place(const Error& error) const {
  if (is_placed(error)) return error;
  return base::annotate(error, {.place = place(error.offset()), .path = path_});
}

Error ModelSource::with_tensor(const Error& error, const onnx::TensorSite& site) const {
  if (is_placed(error)) return error;
  return with_place(base::annotate(error, {.prefix = describe(site)}));
}

Resolved ModelSource::resolve(const onnx::TensorSite& site) {
  return errors_with_tensor(*this, site, [&] { return find(site, proved_link(site.tensor)); });
}

void ModelSource::prove_link(const onnx::TensorSite& site) {
  errors_with_tensor(*this, site, [&] { static_cast<void>(proved_link(site.tensor)); });
}

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
  // M22: a checksum is that of a whole file or entry, so it says nothing about a slice.
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
