#include "zip/extra_fields.h"

#include "base/little_endian.h"
#include "base/text.h"
#include "onnxar/error.h"
#include "zip/format.h"
#include "zip/layout.h"

namespace onnxar::zip {
namespace {

bool is_padding(std::uint16_t id) noexcept { return id == padding_extra_id || id == alignment_extra_id; }

}  // namespace

ExtraFields read_extra_fields(Bytes extra, HeaderKind kind, std::string_view name, std::uint64_t offset) {
  const auto refuse = [&](Code code, const std::string& message) {
    throw Error(code, message, {std::string(name), offset});
  };
  ExtraFields found;
  while (!extra.empty()) {
    if (extra.size() < extra_header_size || extra.size() - extra_header_size < base::load<std::uint16_t>(extra, 2)) {
      refuse(Code::zip_extra_malformed, "an extra field runs past the end of the header");
    }
    const auto id = base::load<std::uint16_t>(extra, 0);
    const auto size = base::load<std::uint16_t>(extra, 2);
    const Bytes payload = extra.subspan(extra_header_size, size);
    extra = extra.subspan(extra_header_size + size);
    if (id != zip64_extra_id && !is_padding(id)) {
      refuse(Code::zip_extra_unknown,
             base::concat("extra field ", base::hex(id), " is not allowed (only zip64 and padding are)"));
    }
    if (id == padding_extra_id && kind == HeaderKind::directory) {
      refuse(Code::zip_extra_unknown, "the padding record 0xd935 belongs in the local header only");
    }
    std::optional<Bytes>& field = id == zip64_extra_id ? found.zip64 : found.padding;
    if (field) {
      refuse(Code::zip_extra_duplicate, is_padding(id) ? "two records state an alignment in one header"
                                                       : "the same extra field is twice in one header");
    }
    field = payload;
    if (is_padding(id)) found.padding_id = id;
  }
  return found;
}

std::optional<std::uint64_t> recorded_alignment(std::uint16_t padding_id, Bytes padding) noexcept {
  const std::uint64_t alignment = base::load<std::uint16_t>(padding, 0);
  const std::uint64_t most = padding_id == alignment_extra_id ? alignment_extra_maximum : alignment_maximum;
  if (!is_valid_alignment(alignment) || alignment > most) return std::nullopt;
  return alignment;
}

}  // namespace onnxar::zip
